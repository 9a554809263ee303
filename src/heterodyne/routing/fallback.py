"""Pure: the replica a request goes to, of its model, of an adapter on it, or of a model that stands in for it."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import ContextExceeded, EngineUnavailable, HeterodyneError, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.residency import may_answer
from heterodyne.routing.arms import Arm, Side
from heterodyne.routing.context import Contexts, context_wanted, contexts_of
from heterodyne.routing.forecast import BROKEN
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.snapshot import Obstacle
from heterodyne.routing.no_replica import check_purpose, no_replica_error, no_replica_in_regions_error
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.slow_start import SlowStart

NO_REPLICAS: Final[frozenset[ReplicaId]] = frozenset()
ADAPTER_RETRY_AFTER_S: Final = 2
KEYS_REGIONS_MAX: Final = 64  # that are remembered
# Why a replica takes nothing now and will soon.
BUSY: Final = (None, Obstacle.FULL, Obstacle.PAUSED, Obstacle.RATE_LIMITED)
CANNOT: Final = (
    EngineUnavailable,
    UnknownModel,
    ContextExceeded,
    InvalidField,
)  # why a model cannot stand in for another


class FieldRules(Protocol):
    """Which replicas may be sent the fields that only some engines know."""

    def able(self, request: Request, replicas: Sequence[Replica]) -> Sequence[Replica]:
        """Of these, those that may be sent every field of the request."""
        ...

    def check(self, request: Request, replicas: Sequence[Replica]) -> None:
        """Raise where none of a model's replicas, busy or not, may be sent a field."""
        ...


class FallbackRouter:
    """Filters replicas by health and by what the request needs, then asks the router. One per worker or simulation."""

    def __init__(
        self,
        snapshot: FleetSnapshot,
        health: FleetHealth,
        router: Router,
        *,
        fields: FieldRules,
        nearness: Callable[[Replica, str], Nearness],
        chance: Callable[[], float],
    ) -> None:
        self._take(snapshot)
        self.health = health  # replaced where the rules of health change
        self._router = router
        self._fields = fields
        self._nearness = nearness
        self._chance = chance
        self._contexts: dict[str, Contexts] = {}
        self._slow_start = SlowStart()
        # Of each list the part in some regions; both are the same objects while nothing changes.
        self._in_regions: dict[tuple[str, frozenset[str]], tuple[Sequence[Replica], Sequence[Replica]]] = {}
        self._on_sides: dict[tuple[str, Side], tuple[Sequence[Replica], Arm, Sequence[Replica]]] = {}

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet."""
        self._take(snapshot)
        self._contexts = {}
        self._in_regions = {}
        self._on_sides = {}
        self._slow_start.forget()

    def _take(self, snapshot: FleetSnapshot) -> None:
        self.snapshot = snapshot
        # Every request looks these up, and finds them faster here.
        self._aliases, self._adapters, self._rules = snapshot.aliases, snapshot.adapters, snapshot.rules

    def decide(
        self,
        request: Request,
        routing_request: RoutingRequest,
        now_s: float,
        failed: frozenset[ReplicaId] = NO_REPLICAS,
    ) -> RoutingChoice:
        """The replica to ask, other than those that have failed it; raises why there is none."""
        name = self._aliases.get(request.model, request.model)
        if self._adapters and name in self._adapters:
            return self._decide_adapter(request, routing_request, name, failed, now_s)
        rule = self._rules.get(routing_request.model)
        try:
            choice = self._decide(request, routing_request, failed, now_s)
        except EngineUnavailable:
            if rule is None:
                raise
            for other in rule.fallbacks:
                try:
                    return self._decide(request, routing_request.of_model(other), failed, now_s)
                except CANNOT:
                    continue
            raise
        if choice.slo_outlook == BROKEN and rule is not None and rule.late_fallbacks:
            return self._in_time(request, routing_request, rule.late_fallbacks, failed, now_s) or choice
        return choice

    def try_decide(
        self, request: Request, routing_request: RoutingRequest, now_s: float, failed: frozenset[ReplicaId]
    ) -> RoutingChoice | None:
        """Another replica for a request that these have failed, or None."""
        try:
            return self.decide(request, routing_request, now_s, failed)
        except HeterodyneError:
            return None

    def try_other(
        self, request: Request, routing_request: RoutingRequest, model: str, now_s: float
    ) -> RoutingChoice | None:
        """A replica of another model that is to answer in its place, or None."""
        try:
            return self._decide(request, routing_request.of_model(model), NO_REPLICAS, now_s)
        except HeterodyneError:
            return None

    def context(self, request: Request, routing_request: RoutingRequest) -> float:
        """The context that a replica of the asked model should have for it; 0: any. Raises where none is enough."""
        contexts = self._contexts.get(routing_request.model)
        if contexts is None:
            snapshot = self.snapshot
            if routing_request.model not in snapshot.by_model:
                return 0.0
            rule = snapshot.rules.get(routing_request.model)
            longest = None if rule is None else rule.context_tokens
            contexts = contexts_of(snapshot.by_model[routing_request.model], longest)
            self._contexts[routing_request.model] = contexts
        if routing_request.prompt_tokens + (request.output_tokens_max or 0) <= contexts.least:
            return 0.0  # as of nearly every request
        return context_wanted(request, routing_request.prompt_tokens, contexts)

    def _decide(
        self, request: Request, routing_request: RoutingRequest, failed: frozenset[ReplicaId], now_s: float
    ) -> RoutingChoice:
        context = self.context(request, routing_request)
        usable = self._usable(request, routing_request, failed, now_s, context)
        if not usable:
            self._raise_why_none(request, routing_request, context, now_s, has_failed=bool(failed))
        self._leave_out_prefill(routing_request, now_s)
        choice = self._router.decide(routing_request, usable, now_s)
        target = choice.forecast.state.replica
        if target.purpose is not None or request.operation is Operation.INFER:
            check_purpose(request, target)
        return choice

    def _raise_why_none(
        self, request: Request, routing_request: RoutingRequest, context: float, now_s: float, *, has_failed: bool
    ) -> None:
        model = routing_request.model
        replicas = self.snapshot.by_model.get(model, ())
        self._fields.check(request, replicas)
        health, regions = self.health.try_model(model), routing_request.regions
        if regions is not None and model in self.snapshot.by_model:
            is_full = health is not None and health.is_full_in(regions, now_s, routing_request.prompt_tokens)
            raise no_replica_in_regions_error(request.model, regions, is_full=is_full)
        # Where others could take it but for its length, those that are long enough are full.
        is_long = context > 0.0 and any(one.is_takeable and has_context(one, context) for one in replicas)
        is_full = health is not None and (health.is_full or is_long)
        raise no_replica_error(
            model,
            self.snapshot,
            has_failed=has_failed,
            is_full=is_full,
            rate_limit_wait_s=0.0 if health is None else health.rate_limit_wait_s,
            called=request.model,
        )

    def _in_time(
        self,
        request: Request,
        routing_request: RoutingRequest,
        others: Sequence[str],
        failed: frozenset[ReplicaId],
        now_s: float,
    ) -> RoutingChoice | None:
        """A model that would keep the SLO in its place; None: none would, so it may as well answer itself."""
        for other in others:
            try:
                choice = self._decide(request, routing_request.of_model(other), failed, now_s)
            except CANNOT:
                continue
            if choice.slo_outlook != BROKEN:
                return choice
        return None

    def _usable(
        self,
        request: Request,
        routing_request: RoutingRequest,
        failed: frozenset[ReplicaId],
        now_s: float,
        context: float,
    ) -> Sequence[Replica]:
        health = self.health.try_model(routing_request.model)
        if health is None:
            return ()
        usable = health.usable(now_s, routing_request.prompt_tokens)
        if routing_request.regions is not None:
            usable = self._regional(usable, routing_request.model, routing_request.regions)
        if routing_request.among is not None:
            usable = [replica for replica in usable if replica.id in routing_request.among]
        if failed:
            usable = [replica for replica in usable if replica.id not in failed]
        if routing_request.arm is not None:
            usable = self._armed(usable, routing_request, routing_request.arm, failed, now_s)
        if routing_request.pool:
            usable = [replica for replica in usable if replica.pool == routing_request.pool]
        if context:
            usable = [replica for replica in usable if has_context(replica, context)]
        if request.private_fields:
            usable = self._fields.able(request, usable)
        if health.recovering and len(usable) > 1:
            return self._slow_start.drawn(usable, health.slow(now_s), self._chance)
        return usable

    def _leave_out_prefill(self, routing_request: RoutingRequest, now_s: float) -> None:
        """Its prompt is not computed for another by a replica that fails or has enough to do."""
        if self.snapshot.prefill:
            routing_request.prefill_out = self.health.prefill_out(routing_request.model, now_s, self._chance)

    def _regional(self, usable: Sequence[Replica], model: str, regions: frozenset[str]) -> Sequence[Replica]:
        """Of these, those in the regions of a key, which asks again and again."""
        known = self._in_regions.get((model, regions))
        if known is None or known[0] is not usable:
            if len(self._in_regions) >= KEYS_REGIONS_MAX:
                self._in_regions.clear()
            known = usable, [replica for replica in usable if may_answer(regions, replica)]
            self._in_regions[model, regions] = known
        return known[1]

    def _armed(
        self,
        usable: Sequence[Replica],
        request: RoutingRequest,
        arm: Arm,
        failed: frozenset[ReplicaId],
        now_s: float,
    ) -> Sequence[Replica]:
        """Of these, those on one side of a rollout; of the other only where this side is lost, and not when it is busy:
        a candidate must not be given more than its share because the baseline has much to do."""
        model = request.model
        known = self._on_sides.get((model, arm.side))
        if known is not None and known[0] is usable and known[1] is arm:
            return known[2]
        own = arm.of(usable)
        if own:
            nearest = arm.nearest(own)
            self._on_sides[model, arm.side] = usable, arm, nearest
            return nearest
        members = arm.of(self.snapshot.by_model.get(model, ()))
        rest = [one for one in members if one.is_takeable and one.id not in failed and _is_allowed(one, request)]
        busy = [one for one in rest if self.health.of(one.id).may_take(now_s) in BUSY]
        if not busy:
            return usable
        healths = [(one, self.health.of(one.id)) for one in busy]
        return [one for one, health in healths if not health.is_crammed and not health.rate_limit_wait_s]

    def _decide_adapter(
        self, request: Request, routing_request: RoutingRequest, name: str, failed: frozenset[ReplicaId], now_s: float
    ) -> RoutingChoice:
        """One that may hold the adapter, the nearest to it first. No model stands in for an adapter."""
        usable = self._usable(request, routing_request, failed, now_s, self.context(request, routing_request))
        able = [one for one in usable if name in one.adapters]
        if not able:
            self._fields.check(request, self.snapshot.by_model.get(routing_request.model, ()))
            raise EngineUnavailable(
                f"No replica that may hold the adapter {name!r} can take the request now.",
                retry_after_s=ADAPTER_RETRY_AFTER_S,
            )
        self._leave_out_prefill(routing_request, now_s)
        nearness = [self._nearness(one, name) for one in able]
        nearest = min(nearness)
        choice = self._router.decide(
            routing_request, [one for one, near in zip(able, nearness, strict=True) if near is nearest], now_s
        )
        check_purpose(request, choice.target)
        return choice


def has_context(replica: Replica, tokens: float) -> bool:
    """Whether so many fit, as far as the replica says."""
    return replica.context_tokens is None or replica.context_tokens >= tokens


def _is_allowed(replica: Replica, request: RoutingRequest) -> bool:
    """Whether it may go there at all, be the replica busy or not."""
    return request.may_go_to(replica) and (request.among is None or replica.id in request.among)
