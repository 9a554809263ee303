"""Pure: the router. It knows every replica as a seat, places requests, and learns from each that it has placed.

    router.publish(fleet, now_s)                    whenever the control loop does
    choice = router.decide(ask, usable, now_s)      a replica, what it should take there, and why
    ticket = router.start(ask, choice.forecast, now_s)
    ticket.first_token(now_s)
    ticket.end(now_s, output_tokens=…, cached_tokens=…)

The gateway and the simulator drive the same object, the one by the clock on the wall, the other by its own.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf

from heterodyne.domain.fleet import FleetSnapshot, ModelRule, PoolName, Replica, ReplicaId
from heterodyne.domain.kv_event import KvEvent
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.ask import Ask
from heterodyne.routing.choice import Choice
from heterodyne.routing.desk import Desk
from heterodyne.routing.forecast import Forecast
from heterodyne.routing.kv.exact import ExactBlocks
from heterodyne.routing.kv.hearsay import Hearsay, hear
from heterodyne.routing.kv.index import PrefixIndex
from heterodyne.routing.peers.catalogue import PEERS
from heterodyne.routing.picker import Chance
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.policies.slo import Slo
from heterodyne.routing.prediction.pool_speed import PoolSpeed, PoolSpeedSnapshot
from heterodyne.routing.prediction.prior import UNKNOWN, Prior
from heterodyne.routing.predictive import NOTHING_CACHED
from heterodyne.routing.seat import Seat, SeatSnapshot
from heterodyne.routing.ticket import Ticket

NO_RULE = ModelRule()
DEFAULT = Slo()

PriorOf = Callable[[Replica], Prior | None]


class Router:
    """One per worker, or per simulation. Never larger than the latest fleet it was given, plus its bounded indices."""

    def __init__(
        self, fleet: FleetSnapshot, *, prior_of: PriorOf, chance: Chance, now_s: float, has_others: bool = False
    ) -> None:
        """`has_others`: other workers route to the same replicas, and are told what was computed where."""
        self._prior_of = prior_of
        self._chance = chance
        self._index = PrefixIndex()
        self._exact = ExactBlocks(self._index)
        self._hearsay = Hearsay() if has_others else None
        self._seats: dict[ReplicaId, Seat] = {}
        self._free_places: list[int] = []
        self._limits: dict[int, float] = {}
        self._speeds: dict[PoolName, PoolSpeed] = {}
        self._desks: dict[str, Desk] = {}
        self._gone: list[Seat] = []  # of replicas that left before their requests ended
        self._gone_desks: list[Desk] = []
        self.publish(fleet, now_s)

    def publish(self, fleet: FleetSnapshot, now_s: float) -> None:
        """Welcome who is new, forget who is gone."""
        present = {replica.id: replica for replica in fleet.replicas}
        for gone in [
            seat
            for known, seat in self._seats.items()
            if known not in present or _has_changed(seat.replica, present[known])
        ]:
            self._leave(gone, now_s)
            if gone.replica.id in present:
                self._speeds.pop(gone.replica.pool, None)  # what was learned was learned of something else
        for replica in fleet.replicas:
            seat = self._seats.get(replica.id)
            if seat is None:
                self._seats[replica.id] = self._seat(replica, now_s)
            else:
                seat.publish(replica, now_s)
            self._limit(self._seats[replica.id])
        pools = Counter(replica.pool for replica in fleet.replicas)
        self._speeds = {pool: speed for pool, speed in self._speeds.items() if pool in pools}
        for pool, speed in self._speeds.items():
            speed.replicas = pools[pool]
        self._gone = [seat for seat in self._gone if seat.in_flight]
        self._gone_desks = [
            desk
            for desk in (*self._gone_desks, *(one for model, one in self._desks.items() if model not in fleet.by_model))
            if desk.reserve.now
        ]
        self._desks = {model: self._desk(model, fleet) for model in fleet.by_model}
        for model, replicas in fleet.by_model.items():
            self._desks[model].publish([self._seats[replica.id] for replica in replicas], fleet)

    def decide(self, ask: Ask, usable: Sequence[Replica], now_s: float) -> Choice:
        """Where to send the request, among replicas of its model that may take it: at least one."""
        return self._desks[ask.model].choose(ask, usable, now_s, self._chance)

    def forecast(self, ask: Ask, replica: ReplicaId, now_s: float) -> Forecast:
        """What it would take there, whoever chose the replica."""
        seat = self._seats[replica]
        cached = self._index.matches(ask.chain).get(seat.place, 0.0) if ask.chain.hashes else 0.0
        return seat.forecast(ask, cached, now_s)

    def compare(self, ask: Ask, replicas: Sequence[Replica], now_s: float) -> tuple[Forecast, ...]:
        """What it would take on each of these, whether they may be asked or not; nothing is decided."""
        cached = self._index.matches(ask.chain) if ask.chain.hashes else NOTHING_CACHED
        seats = (self._seats[replica.id] for replica in replicas)
        return tuple(seat.forecast(ask, cached.get(seat.place, 0.0), now_s) for seat in seats)

    def try_rehearse(self, ask: Ask, usable: Sequence[Replica], now_s: float) -> Choice | None:
        """What `decide` would say, with nothing left to chance; None where another system's rule decides, for those
        may remember what they are asked."""
        desk = self._desks[ask.model]
        if self.policy(ask) in PEERS and not (len(usable) == 1 and ask.urgency is Urgency.INTERACTIVE):
            return None
        return desk.choose(ask, usable, now_s, _even)

    def objective(self, ask: Ask) -> Objective:
        """What the request's forecasts are compared by; where another system's rule decides, what we would go by."""
        desk = self._desks.get(ask.model)
        return DEFAULT if desk is None or self.policy(ask) in PEERS else desk.objective(ask)

    def policy(self, ask: Ask) -> str:
        """The name of what decides."""
        desk = self._desks.get(ask.model)
        if desk is None:
            return ask.policy or DEFAULT.name
        name = ask.policy or desk.rule.policy
        return name if name in PEERS else desk.objective(ask).name

    def cached_tokens(self, ask: Ask) -> float:
        """The most of its prompt that a replica should have in memory."""
        return max(self._index.matches(ask.chain).values(), default=0.0) if ask.chain.hashes else 0.0

    def kv_tokens(self, model: str) -> float:
        """What all replicas of the model can hold; infinite where nobody knows."""
        desk = self._desks.get(model)
        return inf if desk is None else desk.kv_tokens

    def start(self, ask: Ask, forecast: Forecast, now_s: float) -> Ticket:
        """The request is sent to the replica of a forecast made just now."""
        return Ticket(ask, forecast, self._desks.get(ask.model), now_s)

    def on_memory_lost(self, replica: ReplicaId, now_s: float) -> None:
        """It has restarted or emptied its cache: nothing of a prompt is there any more."""
        seat = self._seats.get(replica)
        if seat is not None:
            self._index.forget(seat.place)
            seat.belief.on_forgotten(now_s)
            for desk in self._desks.values():
                desk.forget(seat.place)

    def on_kv_event(self, replica: ReplicaId, event: KvEvent, rank: int | None, now_s: float) -> None:
        """The engine tells of its cache."""
        seat = self._seats.get(replica)
        if seat is not None and self._exact.on_kv_event(seat.place, event, rank):
            self.on_memory_lost(replica, now_s)

    def on_kv_gap(self, replica: ReplicaId, now_s: float) -> None:
        """Some of what the engine told was lost: what it still holds is not known, though it may be much."""
        seat = self._seats.get(replica)
        if seat is not None:
            self._exact.on_gap(seat.place)
            seat.belief.on_forgotten(now_s)

    def on_kv_restart(self, replica: ReplicaId, now_s: float) -> None:
        """From here on the engine tells everything it holds, and may have begun anew."""
        seat = self._seats.get(replica)
        if seat is not None:
            self._exact.on_restart(seat.place)
            self.on_memory_lost(replica, now_s)

    def take_hearsay(self) -> bytes | None:
        """The next message for other workers; None: there are none, or there is nothing more to tell them."""
        return None if self._hearsay is None else self._hearsay.take()

    def hear(self, message: bytes) -> int:
        """What another worker tells; raises `ValueError` where it cannot be read."""
        return hear(message, self._index, self._place_of)

    @property
    def prefix_entries(self) -> int:
        """Blocks in the prefix index, counted once for every replica that holds them."""
        return self._index.entries

    @property
    def hearsay_dropped(self) -> int:
        """Prompts that other workers were not told of because nobody took the messages in time."""
        return 0 if self._hearsay is None else self._hearsay.dropped

    def snapshot(self) -> tuple[list[SeatSnapshot], int]:
        """The sums of every seat that may hold something, and interactive requests in flight."""
        seats = [seat.snapshot() for seat in (*self._seats.values(), *self._gone)]
        return seats, sum(desk.reserve.now for desk in (*self._desks.values(), *self._gone_desks))

    def trusts(self) -> Mapping[ReplicaId, float]:
        """How far the prefix index is believed about each replica."""
        return {replica: seat.trust for replica, seat in self._seats.items()}

    def speeds(self) -> Mapping[PoolName, PoolSpeedSnapshot]:
        """What has been learned of each pool."""
        return {pool: speed.snapshot() for pool, speed in self._speeds.items()}

    def _desk(self, model: str, fleet: FleetSnapshot) -> Desk:
        rule = fleet.rules.get(model, NO_RULE).routing
        desk = self._desks.get(model)
        if desk is None:
            return Desk(rule, self._index, self._hearsay)
        if desk.rule != rule:
            desk.take(rule)
        return desk

    def _seat(self, replica: Replica, now_s: float) -> Seat:
        speed = self._speeds.get(replica.pool)
        if speed is None:
            speed = self._speeds[replica.pool] = PoolSpeed(self._prior_of(replica) or UNKNOWN)
        place = self._free_places.pop() if self._free_places else len(self._seats)
        return Seat(replica, place, speed, now_s)

    def _limit(self, seat: Seat) -> None:
        """The index remembers no more of a replica than it holds; a place keeps its limit until it is told another."""
        if self._limits.get(seat.place) != seat.kv_tokens:
            self._limits[seat.place] = seat.kv_tokens
            self._index.limit(seat.place, seat.kv_tokens)

    def _place_of(self, replica: ReplicaId) -> int | None:
        seat = self._seats.get(replica)
        return None if seat is None else seat.place

    def _leave(self, seat: Seat, now_s: float) -> None:
        """Requests still there end on a seat that nobody looks at."""
        self.on_memory_lost(seat.replica.id, now_s)
        seat.is_gone = True
        self._exact.leave(seat.place)
        del self._seats[seat.replica.id]
        self._gone.append(seat)
        self._free_places.append(seat.place)


def _even() -> float:
    return 0.5


def _has_changed(before: Replica, now: Replica) -> bool:
    """Whether the same name stands for something else: another pool, model or make."""
    return (before.pool, before.model, before.hardware, before.tp, before.engine, before.version) != (
        now.pool,
        now.model,
        now.hardware,
        now.tp,
        now.engine,
        now.version,
    )
