"""Where a request goes: of its model, of an adapter on it, or of a model that stands in for it."""

from collections.abc import Callable, Sequence

from msgspec import structs

from heterodyne.admission.context import Contexts, context_wanted, contexts_of
from heterodyne.domain.errors import ContextExceeded, EngineUnavailable, HeterodyneError, InvalidField, UnknownModel
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.request import Request
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.private_fields import check_fields, knowing
from heterodyne.ports.adapters import Adapters
from heterodyne.routing.forecast import BROKEN, RoutingChoice
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.kv.chain import EMPTY
from heterodyne.routing.no_replica import check_purpose, no_replica_error, no_replica_in_regions_error
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest

NO_REPLICAS: frozenset[ReplicaId] = frozenset()
ADAPTER_RETRY_AFTER_S = 2
CANNOT = (EngineUnavailable, UnknownModel, ContextExceeded, InvalidField)  # why a model cannot stand in for another


class Decider:
    """One per worker: who may be asked, by their standing, and who is, by the router."""

    def __init__(
        self,
        fleet: FleetView,
        fleet_health: FleetHealth,
        router: Router,
        adapters: Adapters,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self._fleet = fleet
        self.fleet_health = fleet_health
        self._router = router
        self._adapters = adapters
        self._clock = clock
        self._chance = chance
        self._contexts: dict[str, Contexts] = {}
        self._contexts_of = fleet.snapshot

    def decide(
        self, request: Request, routing_request: RoutingRequest, failed: frozenset[ReplicaId] = NO_REPLICAS
    ) -> RoutingChoice:
        """The replica to ask; raises why there is none."""
        snapshot, now_s = self._fleet.snapshot, self._clock()
        name = snapshot.aliases.get(request.model, request.model)
        if snapshot.adapters and name in snapshot.adapters:
            return self._decide_adapter(request, routing_request, name, failed, now_s)
        rule = snapshot.rules.get(routing_request.model)
        try:
            choice = self._decide(request, routing_request, failed, now_s)
        except EngineUnavailable:
            if rule is None:
                raise
            for other in rule.fallbacks:
                try:
                    return self._decide(request, _of_model(routing_request, other), failed, now_s)
                except CANNOT:
                    continue
            raise
        if choice.slo_outlook == BROKEN and rule is not None and rule.late_fallbacks:
            return self._in_time(request, routing_request, rule.late_fallbacks, failed, now_s) or choice
        return choice

    def try_decide(
        self, request: Request, routing_request: RoutingRequest, failed: frozenset[ReplicaId]
    ) -> RoutingChoice | None:
        """Another replica for a request that these have failed, or None."""
        try:
            return self.decide(request, routing_request, failed)
        except HeterodyneError:
            return None

    def try_other(self, request: Request, routing_request: RoutingRequest, model: str) -> RoutingChoice | None:
        """A replica of another model that is to answer in its place, or None."""
        try:
            return self._decide(request, _of_model(routing_request, model), NO_REPLICAS, self._clock())
        except HeterodyneError:
            return None

    def context(self, request: Request, routing_request: RoutingRequest) -> float:
        """The context that a replica of the asked model should have for it; 0: any. Raises where none is enough."""
        snapshot = self._fleet.snapshot
        if self._contexts_of is not snapshot:
            self._contexts_of, self._contexts = snapshot, {}
        contexts = self._contexts.get(routing_request.model)
        if contexts is None:
            if routing_request.model not in snapshot.by_model:
                return 0.0
            rule = snapshot.rules.get(routing_request.model)
            longest = None if rule is None else rule.context_tokens
            contexts = self._contexts[routing_request.model] = contexts_of(
                snapshot.by_model[routing_request.model], longest
            )
        if routing_request.prompt_tokens + (request.output_tokens_max or 0) <= contexts.least:
            return 0.0  # as of nearly every request
        return context_wanted(request, routing_request.prompt_tokens, contexts)

    def _decide(
        self, request: Request, routing_request: RoutingRequest, failed: frozenset[ReplicaId], now_s: float
    ) -> RoutingChoice:
        context = self.context(request, routing_request)
        usable = self._usable(request, routing_request, failed, now_s, context)
        if not usable:
            check_fields(request, routing_request.model, self._fleet)
            if routing_request.regions is not None and routing_request.model in self._fleet.snapshot.by_model:
                raise no_replica_in_regions_error(request.model, routing_request.regions)
            fleet_health = self.fleet_health.try_model(routing_request.model)
            # Where others could take it but for its length, those that are long enough are full.
            is_full = fleet_health is not None and (
                fleet_health.is_full or (context > 0.0 and self._is_able(routing_request, context))
            )
            raise no_replica_error(
                routing_request.model,
                self._fleet.snapshot,
                has_failed=bool(failed),
                is_full=is_full,
                called=request.model,
            )
        choice = self._router.decide(routing_request, usable, now_s)
        check_purpose(request, choice.forecast.state.replica)
        return choice

    def _in_time(
        self,
        request: Request,
        routing_request: RoutingRequest,
        others: Sequence[str],
        failed: frozenset[ReplicaId],
        now_s: float,
    ) -> RoutingChoice | None:
        """A model that would keep the promise in its place; None: none would, so it may as well answer itself."""
        for other in others:
            try:
                choice = self._decide(request, _of_model(routing_request, other), failed, now_s)
            except CANNOT:
                continue
            if choice.slo_outlook != BROKEN:
                return choice
        return None

    def _is_able(self, routing_request: RoutingRequest, context: float) -> bool:
        """Whether somebody with such a context is there, whatever it has to do."""
        replicas = self._fleet.snapshot.by_model.get(routing_request.model, ())
        return any(replica.is_takeable and has_context(replica, context) for replica in replicas)

    def _usable(
        self,
        request: Request,
        routing_request: RoutingRequest,
        failed: frozenset[ReplicaId],
        now_s: float,
        context: float,
    ) -> Sequence[Replica]:
        fleet_health = self.fleet_health.try_model(routing_request.model)
        if fleet_health is None:
            return ()
        usable = fleet_health.usable(now_s)
        if failed:
            usable = [replica for replica in usable if replica.id not in failed]
        if routing_request.regions is not None:
            usable = [replica for replica in usable if replica.region in routing_request.regions]
        if routing_request.pool:
            usable = [replica for replica in usable if replica.pool == routing_request.pool]
        if context:
            usable = [replica for replica in usable if has_context(replica, context)]
        if request.private_fields:
            usable = knowing(request, usable, self._fleet)
        if fleet_health.recovering and len(usable) > 1:
            return self._by_weight(usable, now_s)
        return usable

    def _by_weight(self, usable: Sequence[Replica], now_s: float) -> Sequence[Replica]:
        """Whoever has just come back gets a growing share of what it would be given, beside those who have not."""
        weights = [self.fleet_health.of(one.id).weight(now_s) for one in usable]
        most, chance = max(weights), self._chance
        return [one for one, weight in zip(usable, weights, strict=True) if weight == most or chance() * most < weight]

    def _decide_adapter(
        self, request: Request, routing_request: RoutingRequest, name: str, failed: frozenset[ReplicaId], now_s: float
    ) -> RoutingChoice:
        """One that may hold the adapter, the nearest to it first. Nobody stands in for an adapter."""
        usable = self._usable(request, routing_request, failed, now_s, self.context(request, routing_request))
        able = [one for one in usable if name in one.adapters]
        if not able:
            check_fields(request, routing_request.model, self._fleet)
            raise EngineUnavailable(
                f"No replica that may hold the adapter {name!r} can take the request now.",
                retry_after_s=ADAPTER_RETRY_AFTER_S,
            )
        nearness = [self._adapters.nearness(one, name) for one in able]
        nearest = min(nearness)
        choice = self._router.decide(
            routing_request, [one for one, near in zip(able, nearness, strict=True) if near is nearest], now_s
        )
        check_purpose(request, choice.target)
        return choice


def has_context(replica: Replica, tokens: float) -> bool:
    """Whether so many fit, as far as anybody says."""
    return replica.context_tokens is None or replica.context_tokens >= tokens


def _of_model(routing_request: RoutingRequest, model: str) -> RoutingRequest:
    """The same of another model, which knows nothing of the prompts of the first."""
    return structs.replace(routing_request, model=model, chain=EMPTY)
