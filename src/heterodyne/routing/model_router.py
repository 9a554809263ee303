"""Pure: everything the router keeps for one model: its replicas by tier and pool, its policy, its sessions."""

from collections.abc import Sequence
from math import inf
from typing import Final

from heterodyne.domain.fleet import FleetSnapshot, PoolName, Replica, ReplicaId
from heterodyne.domain.routing_rule import KvStrategy, Reason, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.catalogue import objective, try_peer
from heterodyne.routing.fabric.choice import with_kv
from heterodyne.routing.fabric.fabric import KvFabric
from heterodyne.routing.fabric.sides import KvSides, by_role, try_sides
from heterodyne.routing.forecast import BROKEN, CROWDED, forecast_on, slo_outlook
from heterodyne.routing.kv.gossip import PrefixGossip
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.prefix_matches import NOTHING_CACHED, PrefixMatches
from heterodyne.routing.kv.sticky_sessions import StickySessions
from heterodyne.routing.picker import Chance, FinishedRequestStats, Picker
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.predictive import Pool, choose
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.reserve import Reserve
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.spare import choose_spare

INTERACTIVE: Final = Urgency.INTERACTIVE
STICKY: Final = KvStrategy.STICKY
REPEATED_S: Final = 0.002  # five hundred requests a second are forecast each
LISTS_MAX: Final = 64  # of usable replicas, whose arrangement is remembered
NOT_URGENT: Final = "cost"  # the policy of work that no user waits for
Tier = list[Pool]  # pools whose replicas come before those of the next tier


class ModelRouter:
    """One per model."""

    def __init__(
        self, rule: RoutingRule, index: PrefixIndex, fabric: KvFabric, gossip: PrefixGossip | None = None
    ) -> None:
        """`gossip` gathers what is sent to other workers; None: there are none."""
        self.rule = rule
        self._index = index
        self._fabric = fabric
        self._sides: KvSides | None = None  # None: no KV is brought, whatever replicas could
        self._prefill: list[ReplicaState] = []
        self._gossip = gossip
        self._sticky_sessions = StickySessions()
        self._objectives: dict[str, Objective] = {}
        self._states: dict[ReplicaId, ReplicaState] = {}
        self._by_place: dict[int, ReplicaState] = {}
        self._members: list[ReplicaState] = []  # in the order of the fleet
        self._pool_numbers: list[int] = []  # of each member; a pool with replicas in two tiers has two numbers
        self._pool_tiers: list[int] = []  # by number
        self._arranged: dict[int, tuple[Sequence[Replica], list[Tier], Tier]] = {}  # by the list's identity
        self._repeated: RoutingChoice | None = None  # the answer for all requests until then
        self._repeated_until_s = 0.0
        self.reserve = Reserve()
        self.picker: Picker | None = None
        self.take(rule)

    def take(self, rule: RoutingRule) -> None:
        """Another rule from the next request on."""
        self.rule = rule
        self._objectives = {}
        self._arranged = {}
        self._repeated = None
        self._sides = try_sides(self.rule.kv, self._members, self._prefill)
        if self.picker is None or self.picker.name != rule.policy:
            self.picker = try_peer(rule.policy)

    def publish(
        self, states: Sequence[ReplicaState], fleet: FleetSnapshot, prefill: Sequence[ReplicaState] = ()
    ) -> None:
        """These serve the model from now on; those of `prefill` compute prompts for them."""
        self._states = {state.replica.id: state for state in states}
        self._by_place = {state.place: state for state in states}
        self._members = list(states)
        numbers: dict[tuple[int, PoolName], int] = {}
        self._pool_numbers = [
            numbers.setdefault((fleet.tiers.get(state.replica.id, 0), state.replica.pool), len(numbers))
            for state in states
        ]
        self._pool_tiers = [tier for tier, _ in numbers]
        self._prefill = list(prefill)
        self._arranged = {}
        self._repeated = None
        self._sides = try_sides(self.rule.kv, self._members, self._prefill)

    @property
    def kv_tokens(self) -> float:
        """What its replicas can hold together."""
        return sum(state.kv_tokens for state in self._states.values())

    def forget(self, place: int) -> None:
        """A replica has left, or lost what it remembered."""
        self._sticky_sessions.forget(place)

    def settle(self, session: str, place: int) -> None:
        """Another worker has sent the session's request there."""
        self._sticky_sessions.settle(session, place)

    def choose(
        self,
        request: RoutingRequest,
        usable: Sequence[Replica],
        now_s: float,
        chance: Chance,
        *,
        is_thorough: bool = False,
    ) -> RoutingChoice:
        """One of the usable, of which there is at least one; a thorough look keeps more of what was compared."""
        repeated = self._repeated
        if (
            repeated is not None
            and now_s < self._repeated_until_s
            and request.urgency is INTERACTIVE
            and request.ttft_slo_s == inf
            and request.itl_slo_s == inf
        ):
            return repeated
        cached = self._index.matches(request.chain) if request.chain.hashes else NOTHING_CACHED
        if len(usable) == 1 and request.urgency is INTERACTIVE:
            only = self._only(request, self._states[usable[0].id], cached, now_s)
            return self._with_kv(
                request, only, [[only.forecast.state]], [], cached, now_s=now_s, chance=chance, is_thorough=is_thorough
            )
        tiers, decoding = self._arrangement(usable)
        if self.picker is not None and request.policy in ("", self.picker.name):
            states = [state for tier in tiers for pool in tier for state in pool]
            state = self.picker.pick(request, states, now_s, chance)
            forecast = forecast_on(state, request, cached.tokens(state.place), now_s)
            return RoutingChoice(forecast, slo_outlook(forecast), Reason.PEER)
        if request.urgency is not INTERACTIVE:
            states = [state for tier in tiers for pool in tier for state in pool]
            return choose_spare(
                self._beside(request),
                states,
                cached,
                self.objective(request),
                interactive=self.reserve.lately(now_s),
                to_come=self.reserve.to_come(now_s),
                now_s=now_s,
            )
        best: RoutingChoice | None = None
        pools: Tier = []
        for tier in tiers:
            choice = choose(request, tier, cached, self.objective(request), now_s=now_s, chance=chance)
            better = choice if best is None else _better(best, choice)
            if best is None or better.forecast is choice.forecast:
                pools = tier
            best = better
            if best.slo_outlook < CROWDED:
                break
        assert best is not None
        if request.session and self.rule.kv is STICKY:
            return self._keep_session(request, best, tiers, now_s)
        return self._with_kv(
            request, best, pools, decoding, cached, now_s=now_s, chance=chance, is_thorough=is_thorough
        )

    def _with_kv(
        self,
        request: RoutingRequest,
        best: RoutingChoice,
        pools: Tier,
        decoding: Tier,
        cached: PrefixMatches,
        *,
        now_s: float,
        chance: Chance,
        is_thorough: bool,
    ) -> RoutingChoice:
        """The same, or better with KV that is brought, where the model's strategy has that."""
        sides = self._sides
        if sides is None or not (request.chain.hashes or decoding):
            return best
        return with_kv(
            request,
            best,
            pools=pools,
            decoding=decoding,
            sides=sides,
            cached=cached,
            objective=self.objective(request),
            fabric=self._fabric,
            now_s=now_s,
            chance=chance,
            is_thorough=is_thorough,
        )

    def objective(self, request: RoutingRequest) -> Objective:
        """What the request's forecasts are compared by; raises for the rule of another system."""
        name = request.policy or (self.rule.policy if request.urgency is INTERACTIVE else NOT_URGENT)
        known = self._objectives.get(name)
        if known is None:
            known = self._objectives[name] = objective(name, self.rule)
        return known

    def _only(self, request: RoutingRequest, state: ReplicaState, cached: PrefixMatches, now_s: float) -> RoutingChoice:
        """Without a choice. Where no other replica serves the model either, the next few requests get the same.

        Nothing depends on their forecasts, and of very many a part shows as much.
        """
        forecast = forecast_on(state, request, cached.tokens(state.place), now_s)
        choice = RoutingChoice(forecast, slo_outlook(forecast), Reason.ONLY_REPLICA)
        if len(self._states) == 1 and self.picker is None and not request.has_slo and self._sides is None:
            self._repeated = RoutingChoice(forecast, choice.slo_outlook, choice.reason, is_repeated=True)
            self._repeated_until_s = now_s + REPEATED_S
        return choice

    def _beside(self, request: RoutingRequest) -> RoutingRequest:
        """The SLO of interactive work counts for what is placed beside it."""
        rule = self.rule
        beside = request.copied()
        if rule.ttft_slo_s is not None:
            beside.ttft_slo_s = min(request.ttft_slo_s, rule.ttft_slo_s)
        if rule.itl_slo_s is not None:
            beside.itl_slo_s = min(request.itl_slo_s, rule.itl_slo_s)
        return beside

    def start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> int:
        """The request goes there; the tokens of its prompt that the replica has shown to have."""
        if request.urgency is INTERACTIVE:
            self.reserve.start(now_s)
        if request.session:
            is_new = self._sticky_sessions.settle(request.session, state.place)
            if is_new and self._gossip is not None and self.rule.kv is STICKY:
                self._gossip.note_home(request.model, request.session, state.key)
        if self.picker is not None:
            self.picker.on_start(request, state, now_s)
        if not request.chain.hashes:
            return 0
        self._fabric.conversations.note(request.model, request.chain, now_s)
        if self._gossip is not None:
            self._gossip.note(state.key, request.chain)
        return self._index.insert(state.place, request.chain)

    def forecast(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> Forecast:
        """What it would take there, with nothing brought."""
        cached = self._index.matches(request.chain) if request.chain.hashes else NOTHING_CACHED
        return forecast_on(state, request, cached.tokens(state.place), now_s)

    def not_held(self, request: RoutingRequest, state: ReplicaState) -> None:
        """Its prompt is not there, though it was thought to be."""
        if not state.is_gone:
            self._index.remove(state.place, request.chain.hashes)

    def prefilled(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Its prompt has been computed there, for another replica or for those to come."""
        if request.chain.hashes and not state.is_gone:
            if self._gossip is not None:
                self._gossip.note(state.key, request.chain)
            self._index.insert(state.place, request.chain)
            self.first_token(request, state, now_s)

    def first_token(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Its prompt has been computed there."""
        if not state.is_gone:
            self._index.prove(state.place, request.chain)
            if self._sides is not None:
                self._fabric.insert(request, state, now_s)
            if self._gossip is not None:
                self._gossip.note_computed(state.key, request.chain)

    def end(
        self,
        request: RoutingRequest,
        state: ReplicaState,
        ended: FinishedRequestStats,
        now_s: float,
        *,
        said_tokens: int,
        picker: Picker | None,
    ) -> None:
        """It is over, and the engine may have reported how much of its prompt it still had; `picker` saw it start."""
        if picker is not None:
            picker.on_end(request, state, ended, now_s)
        if said_tokens and ended.is_complete and not state.is_gone:
            started_s = now_s - ended.total_s
            if state.belief.learn(
                said_tokens, ended.cached_tokens, request.prompt_tokens, started_s=started_s, now_s=now_s
            ):
                self._index.forget(state.place)
            state.trust = state.belief.factor

    def _keep_session(
        self, request: RoutingRequest, best: RoutingChoice, tiers: list[Tier], now_s: float
    ) -> RoutingChoice:
        """Where its session is, while that keeps the SLO as well, and saves the prompt more time than it waits."""
        place = self._sticky_sessions.home(request.session)
        state = None if place is None else self._by_place.get(place)
        if state is None or state is best.forecast.state or not _has(tiers, state):
            return best
        forecast = forecast_on(state, request, 0.0, now_s)
        kept = slo_outlook(forecast)
        work_s = forecast.state.speed.prompts * forecast.work_s
        if kept == BROKEN or kept > best.slo_outlook or forecast.wait_s > best.forecast.wait_s + work_s:
            return best
        return RoutingChoice(forecast, kept, Reason.HOME, (*best.others, best.forecast))

    def _arrangement(self, usable: Sequence[Replica]) -> tuple[list[Tier], Tier]:
        """The states of these that do all of a request, and decode replicas beside them; where there are none, decode
        replicas are all there is. Health, regions and slow start give the same lists again and again."""
        known = self._arranged.get(id(usable))
        if known is None or known[0] is not usable:
            if len(self._arranged) >= LISTS_MAX:
                self._arranged.clear()
            tiers, decoding = by_role(self._arrange(list(usable)))
            known = self._arranged[id(usable)] = usable, tiers, decoding
        return known[1], known[2]

    def _arrange(self, usable: list[Replica]) -> list[Tier]:
        """By tier and pool, each pool where its first usable replica is."""
        members = self._members
        pools: list[Pool] = [[] for _ in self._pool_tiers]
        tiers: dict[int, Tier] = {}
        found = 0
        # The usable are the fleet's own objects in its order, so that one walk beside it finds them all.
        for position in range(len(members)):
            if found == len(usable):
                break
            state = members[position]
            if state.replica is usable[found]:
                number = self._pool_numbers[position]
                pool = pools[number]
                if not pool:
                    tiers.setdefault(self._pool_tiers[number], []).append(pool)
                pool.append(state)
                found += 1
        if found < len(usable):  # unless someone else made the list
            ids = {replica.id for replica in usable}
            return self._arrange([state.replica for state in members if state.replica.id in ids])
        return [tiers[number] for number in sorted(tiers)]


def _has(tiers: list[Tier], wanted: ReplicaState) -> bool:
    return any(state is wanted for tier in tiers for pool in tier for state in pool)


def _better(before: RoutingChoice, later: RoutingChoice) -> RoutingChoice:
    """Of an earlier tier and a later one, which takes over only where it keeps the SLO better."""
    better = later if later.slo_outlook < before.slo_outlook else before
    others = (*before.others, before.forecast, *later.others, later.forecast)
    return RoutingChoice(better.forecast, better.slo_outlook, better.reason, others)
