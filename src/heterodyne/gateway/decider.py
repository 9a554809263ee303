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
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.kv.chain import EMPTY
from heterodyne.routing.nobody import check_purpose, nobody, nobody_in
from heterodyne.routing.policies.objective import BROKEN
from heterodyne.routing.router import Router
from heterodyne.routing.standing.fleet_standing import FleetStanding

NOBODY: frozenset[ReplicaId] = frozenset()
ADAPTER_RETRY_AFTER_S = 2
CANNOT = (EngineUnavailable, UnknownModel, ContextExceeded, InvalidField)  # why a model cannot stand in for another


class Decider:
    """One per worker: who may be asked, by their standing, and who is, by the router."""

    def __init__(
        self,
        fleet: FleetView,
        standing: FleetStanding,
        router: Router,
        adapters: Adapters,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
    ) -> None:
        self._fleet = fleet
        self.standing = standing
        self._router = router
        self._adapters = adapters
        self._clock = clock
        self._chance = chance
        self._contexts: dict[str, Contexts] = {}
        self._contexts_of = fleet.snapshot

    def decide(self, request: Request, ask: Ask, failed: frozenset[ReplicaId] = NOBODY) -> Choice:
        """The replica to ask; raises why there is none."""
        snapshot, now_s = self._fleet.snapshot, self._clock()
        name = snapshot.aliases.get(request.model, request.model)
        if snapshot.adapters and name in snapshot.adapters:
            return self._decide_adapter(request, ask, name, failed, now_s)
        rule = snapshot.rules.get(ask.model)
        try:
            choice = self._decide(request, ask, failed, now_s)
        except EngineUnavailable:
            if rule is None:
                raise
            for other in rule.fallbacks:
                try:
                    return self._decide(request, _of_model(ask, other), failed, now_s)
                except CANNOT:
                    continue
            raise
        if choice.promise == BROKEN and rule is not None and rule.late_fallbacks:
            return self._in_time(request, ask, rule.late_fallbacks, failed, now_s) or choice
        return choice

    def try_decide(self, request: Request, ask: Ask, failed: frozenset[ReplicaId]) -> Choice | None:
        """Another replica for a request that these have failed, or None."""
        try:
            return self.decide(request, ask, failed)
        except HeterodyneError:
            return None

    def try_other(self, request: Request, ask: Ask, model: str) -> Choice | None:
        """A replica of another model that is to answer in its place, or None."""
        try:
            return self._decide(request, _of_model(ask, model), NOBODY, self._clock())
        except HeterodyneError:
            return None

    def context(self, request: Request, ask: Ask) -> float:
        """The context that a replica of the asked model should have for it; 0: any. Raises where none is enough."""
        snapshot = self._fleet.snapshot
        if self._contexts_of is not snapshot:
            self._contexts_of, self._contexts = snapshot, {}
        contexts = self._contexts.get(ask.model)
        if contexts is None:
            if ask.model not in snapshot.by_model:
                return 0.0
            rule = snapshot.rules.get(ask.model)
            longest = None if rule is None else rule.context_tokens
            contexts = self._contexts[ask.model] = contexts_of(snapshot.by_model[ask.model], longest)
        if ask.prompt_tokens + (request.output_tokens_max or 0) <= contexts.least:
            return 0.0  # as of nearly every request
        return context_wanted(request, ask.prompt_tokens, contexts)

    def _decide(self, request: Request, ask: Ask, failed: frozenset[ReplicaId], now_s: float) -> Choice:
        context = self.context(request, ask)
        usable = self._usable(request, ask, failed, now_s, context)
        if not usable:
            check_fields(request, ask.model, self._fleet)
            if ask.regions is not None and ask.model in self._fleet.snapshot.by_model:
                raise nobody_in(request.model, ask.regions)
            standing = self.standing.try_model(ask.model)
            # Where others could take it but for its length, those that are long enough are full.
            is_full = standing is not None and (standing.is_full or (context > 0.0 and self._is_able(ask, context)))
            raise nobody(
                ask.model, self._fleet.snapshot, has_failed=bool(failed), is_full=is_full, called=request.model
            )
        choice = self._router.decide(ask, usable, now_s)
        check_purpose(request, choice.forecast.seat.replica)
        return choice

    def _in_time(
        self, request: Request, ask: Ask, others: Sequence[str], failed: frozenset[ReplicaId], now_s: float
    ) -> Choice | None:
        """A model that would keep the promise in its place; None: none would, so it may as well answer itself."""
        for other in others:
            try:
                choice = self._decide(request, _of_model(ask, other), failed, now_s)
            except CANNOT:
                continue
            if choice.promise != BROKEN:
                return choice
        return None

    def _is_able(self, ask: Ask, context: float) -> bool:
        """Whether somebody with such a context is there, whatever it has to do."""
        replicas = self._fleet.snapshot.by_model.get(ask.model, ())
        return any(replica.is_takeable and has_context(replica, context) for replica in replicas)

    def _usable(
        self, request: Request, ask: Ask, failed: frozenset[ReplicaId], now_s: float, context: float
    ) -> Sequence[Replica]:
        standing = self.standing.try_model(ask.model)
        if standing is None:
            return ()
        usable = standing.usable(now_s)
        if failed:
            usable = [replica for replica in usable if replica.id not in failed]
        if ask.regions is not None:
            usable = [replica for replica in usable if replica.region in ask.regions]
        if ask.pool:
            usable = [replica for replica in usable if replica.pool == ask.pool]
        if context:
            usable = [replica for replica in usable if has_context(replica, context)]
        if request.private_fields:
            usable = knowing(request, usable, self._fleet)
        if standing.recovering and len(usable) > 1:
            return self._by_weight(usable, now_s)
        return usable

    def _by_weight(self, usable: Sequence[Replica], now_s: float) -> Sequence[Replica]:
        """Whoever has just come back gets a growing share of what it would be given, beside those who have not."""
        weights = [self.standing.of(one.id).weight(now_s) for one in usable]
        most, chance = max(weights), self._chance
        return [one for one, weight in zip(usable, weights, strict=True) if weight == most or chance() * most < weight]

    def _decide_adapter(
        self, request: Request, ask: Ask, name: str, failed: frozenset[ReplicaId], now_s: float
    ) -> Choice:
        """One that may hold the adapter, the nearest to it first. Nobody stands in for an adapter."""
        usable = self._usable(request, ask, failed, now_s, self.context(request, ask))
        able = [one for one in usable if name in one.adapters]
        if not able:
            check_fields(request, ask.model, self._fleet)
            raise EngineUnavailable(
                f"No replica that may hold the adapter {name!r} can take the request now.",
                retry_after_s=ADAPTER_RETRY_AFTER_S,
            )
        nearness = [self._adapters.nearness(one, name) for one in able]
        nearest = min(nearness)
        choice = self._router.decide(
            ask, [one for one, near in zip(able, nearness, strict=True) if near is nearest], now_s
        )
        check_purpose(request, choice.target)
        return choice


def has_context(replica: Replica, tokens: float) -> bool:
    """Whether so many fit, as far as anybody says."""
    return replica.context_tokens is None or replica.context_tokens >= tokens


def _of_model(ask: Ask, model: str) -> Ask:
    """The same of another model, which knows nothing of the prompts of the first."""
    return structs.replace(ask, model=model, chain=EMPTY)
