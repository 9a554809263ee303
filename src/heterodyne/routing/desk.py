"""Pure: everything the router keeps for one model: its seats by tier and pool, its policy, its conversations' homes."""

from collections.abc import Sequence
from math import inf

from msgspec import structs

from heterodyne.domain.decision import Reason
from heterodyne.domain.fleet import FleetSnapshot, PoolName, Replica, ReplicaId
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.ask import Ask
from heterodyne.routing.catalogue import objective, try_peer
from heterodyne.routing.choice import Choice
from heterodyne.routing.kv.hearsay import Hearsay
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.kv.sticky import Homes
from heterodyne.routing.picker import Chance, Ended, Picker
from heterodyne.routing.policies.objective import BROKEN, CROWDED, Objective, promise
from heterodyne.routing.predictive import NOTHING_CACHED, Cached, choose
from heterodyne.routing.seat import Seat
from heterodyne.routing.spare import Reserve, choose_spare

INTERACTIVE = Urgency.INTERACTIVE
REPEATED_S = 0.002  # five hundred requests a second are forecast each
NOT_URGENT = "cost"  # the policy of work that nobody waits for
Tier = list[list[Seat]]  # pools whose replicas come before those of the next tier


class Desk:
    """One per model."""

    def __init__(self, rule: RoutingRule, index: PrefixIndex, hearsay: Hearsay | None = None) -> None:
        """`hearsay` gathers what other workers are told; None: there are none."""
        self.rule = rule
        self._index = index
        self._hearsay = hearsay
        self._homes = Homes()
        self._objectives: dict[str, Objective] = {}
        self._seats: dict[ReplicaId, Seat] = {}
        self._by_place: dict[int, Seat] = {}
        self._fleet_tiers: dict[ReplicaId, int] = {}
        self._usable: Sequence[Replica] = ()  # whom the tiers below were made of
        self._tiers: list[Tier] = []
        self._repeated: Choice | None = None  # what requests are told until then
        self._repeated_until_s = 0.0
        self.reserve = Reserve()
        self.picker: Picker | None = None
        self.take(rule)

    def take(self, rule: RoutingRule) -> None:
        """Another rule from the next request on."""
        self.rule = rule
        self._objectives = {}
        if self.picker is None or self.picker.name != rule.policy:
            self.picker = try_peer(rule.policy)

    def publish(self, seats: Sequence[Seat], fleet: FleetSnapshot) -> None:
        """These serve the model from now on."""
        self._seats = {seat.replica.id: seat for seat in seats}
        self._by_place = {seat.place: seat for seat in seats}
        self._fleet_tiers = fleet.tiers
        self._usable = ()
        self._tiers = []
        self._repeated = None

    @property
    def kv_tokens(self) -> float:
        """What its replicas can hold together."""
        return sum(seat.kv_tokens for seat in self._seats.values())

    def forget(self, place: int) -> None:
        """A replica has left, or lost what it remembered."""
        self._homes.forget(place)

    def choose(self, ask: Ask, usable: Sequence[Replica], now_s: float, chance: Chance) -> Choice:
        """One of the usable, of which there is at least one."""
        repeated = self._repeated
        if repeated is not None and now_s < self._repeated_until_s and ask.urgency is INTERACTIVE and not ask.has_slo:
            return repeated
        cached = self._cached(ask)
        if len(usable) == 1 and ask.urgency is INTERACTIVE:
            return self._only(ask, self._seats[usable[0].id], cached, now_s)
        if usable is not self._usable:
            self._tiers, self._usable = self._arrange(usable), usable
        if self.picker is not None and ask.policy in ("", self.picker.name):
            seats = [seat for tier in self._tiers for pool in tier for seat in pool]
            seat = self.picker.pick(ask, seats, now_s, chance)
            forecast = seat.forecast(ask, cached.get(seat.place, 0.0), now_s)
            return Choice(forecast, promise(forecast), Reason.PEER)
        if ask.urgency is not INTERACTIVE:
            seats = [seat for tier in self._tiers for pool in tier for seat in pool]
            to_come = self.reserve.to_come(now_s)
            return choose_spare(self._beside(ask), seats, cached, self.objective(ask), to_come=to_come, now_s=now_s)
        best: Choice | None = None
        for tier in self._tiers:
            choice = choose(ask, tier, cached, self.objective(ask), now_s=now_s, chance=chance)
            best = choice if best is None else _better(best, choice)
            if best.promise < CROWDED:
                break
        assert best is not None
        return self._stay(ask, best, now_s) if ask.session and self.rule.kv is KvStrategy.STICKY else best

    def objective(self, ask: Ask) -> Objective:
        """What the request's forecasts are compared by; raises for the rule of another system."""
        name = ask.policy or (self.rule.policy if ask.urgency is INTERACTIVE else NOT_URGENT)
        known = self._objectives.get(name)
        if known is None:
            known = self._objectives[name] = objective(name, self.rule)
        return known

    def _only(self, ask: Ask, seat: Seat, cached: Cached, now_s: float) -> Choice:
        """Without a choice. Where nobody else serves the model either, the next few are told the same.

        Nothing hangs on what is foretold of them, and of very many a part says as much.
        """
        forecast = seat.forecast(ask, cached.get(seat.place, 0.0), now_s)
        choice = Choice(forecast, promise(forecast), Reason.ONLY_REPLICA)
        if len(self._seats) == 1 and self.picker is None and not ask.has_slo:
            self._repeated = structs.replace(choice, is_repeated=True)
            self._repeated_until_s = now_s + REPEATED_S
        return choice

    def _beside(self, ask: Ask) -> Ask:
        """What was promised to interactive work counts for what is placed beside it."""
        rule = self.rule
        return structs.replace(
            ask,
            ttft_slo_s=min(ask.ttft_slo_s, inf if rule.ttft_slo_s is None else rule.ttft_slo_s),
            itl_slo_s=min(ask.itl_slo_s, inf if rule.itl_slo_s is None else rule.itl_slo_s),
        )

    def start(self, ask: Ask, seat: Seat, now_s: float) -> int:
        """The request goes there; the tokens of its prompt that the replica has shown to have."""
        if ask.urgency is INTERACTIVE:
            self.reserve.start(now_s)
        if ask.session:
            self._homes.settle(ask.session, seat.place)
        if self.picker is not None:
            self.picker.on_start(ask, seat, now_s)
        return self._index.insert(seat.place, ask.chain) if ask.chain.hashes else 0

    def first_token(self, ask: Ask, seat: Seat) -> None:
        """Its prompt has been computed there."""
        if not seat.is_gone:
            self._index.prove(seat.place, ask.chain)
            if self._hearsay is not None:
                self._hearsay.note(seat.replica.id, ask.chain)

    def end(self, ask: Ask, seat: Seat, ended: Ended, now_s: float, *, said_tokens: int, picker: Picker | None) -> None:
        """It is over, and the engine may have told how much of its prompt it still had; `picker` saw it start."""
        if picker is not None:
            picker.on_end(ask, seat, ended, now_s)
        if said_tokens and ended.is_complete and not seat.is_gone:
            started_s = now_s - ended.total_s
            if seat.belief.learn(said_tokens, ended.cached_tokens, ask.prompt_tokens, started_s=started_s, now_s=now_s):
                self._index.forget(seat.place)
            seat.trust = seat.belief.factor

    def _cached(self, ask: Ask) -> Cached:
        if not ask.chain.hashes:
            return NOTHING_CACHED
        return self._index.matches(ask.chain)

    def _stay(self, ask: Ask, best: Choice, now_s: float) -> Choice:
        """At home, while that is there, keeps the promise as well, and saves the prompt more time than it waits."""
        place = self._homes.home(ask.session)
        seat = None if place is None else self._by_place.get(place)
        if seat is None or seat is best.forecast.seat or seat.replica not in self._usable:
            return best
        forecast = seat.forecast(ask, 0.0, now_s)
        kept = promise(forecast)
        work_s = forecast.seat.speed.prompts * forecast.work_s
        if kept == BROKEN or kept > best.promise or forecast.wait_s > best.forecast.wait_s + work_s:
            return best
        return Choice(forecast, kept, Reason.HOME, (*best.others, best.forecast))

    def _arrange(self, usable: Sequence[Replica]) -> list[Tier]:
        tiers: dict[int, dict[PoolName, list[Seat]]] = {}
        for replica in usable:
            tier = tiers.setdefault(self._fleet_tiers.get(replica.id, 0), {})
            tier.setdefault(replica.pool, []).append(self._seats[replica.id])
        return [list(tiers[number].values()) for number in sorted(tiers)]


def _better(before: Choice, later: Choice) -> Choice:
    """Of an earlier tier and a later one, which takes over only where it keeps the promise better."""
    better = later if later.promise < before.promise else before
    others = (*before.others, before.forecast, *later.others, later.forecast)
    return Choice(better.forecast, better.promise, better.reason, others)
