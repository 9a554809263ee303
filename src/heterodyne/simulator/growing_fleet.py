"""A fleet that an autoscaler changes while it serves: cold starts, drains, and requests that are held at zero.

The scaler is told what a real one would be told and nothing else. A replica is paid for from the moment it is asked for
until it is gone, and works only while it is ready.
"""

from collections import deque
from collections.abc import Callable, Sequence
from math import exp, inf
from random import Random
from typing import Protocol

from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import Health, PoolName, Replica, ReplicaId
from heterodyne.domain.replica_stage import COMING, PROVIDED, ReplicaStage
from heterodyne.physics.serving import Slo
from heterodyne.planning.scaling.action import ActionKind, ScalingAction
from heterodyne.planning.scaling.observation import Observation, PoolObservation, ScaledReplica
from heterodyne.simulator.fleet import LaidOutPool
from heterodyne.simulator.growth_tally import GrowthTally
from heterodyne.simulator.replica import SimulatedReplica
from heterodyne.simulator.workload import SimulatedRequest

LOOK_S = 10.0
HELD_MAX = 500


class Scaler(Protocol):
    """What decides: ours, or the rule of another system."""

    def look(self, seen: Observation) -> Sequence[ScalingAction]:
        """What to change now."""
        ...


Tells = Callable[[Observation], float]  # what a request is told that is held, in seconds


class GrowingPool(Struct, frozen=True, kw_only=True):
    """Replicas that are alike."""

    pool: LaidOutPool  # its first replica is the picture of all
    first: int  # that are ready when the run begins
    cold_start_s: float  # the median
    cold_start_spread: float = 0.1  # of its logarithm


class FleetChange(Struct, frozen=True, kw_only=True):
    """What a turn brings to the fleet."""

    ready: tuple[tuple[LaidOutPool, Replica], ...] = ()
    drains: tuple[int, ...] = ()
    stays: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether something changes."""
        return bool(self.ready or self.drains or self.stays or self.gone)


class _Life:
    """One replica, from being asked for on."""

    __slots__ = ("asked_at_s", "busy_s", "id", "in_flight", "number", "pool", "ready_at_s", "stage")

    def __init__(self, replica: ReplicaId, pool: GrowingPool, asked_at_s: float, ready_at_s: float) -> None:
        self.id = replica
        self.pool = pool
        self.stage = ReplicaStage.WARMING
        self.asked_at_s = asked_at_s
        self.ready_at_s = ready_at_s
        self.number = -1  # in the run, once it is ready
        self.in_flight = 0
        self.busy_s = 0.0  # when it was last looked at


class GrowingFleet:
    """Owned by one run."""

    def __init__(
        self,
        pools: Sequence[GrowingPool],
        scaler: Scaler,
        slo: Slo,
        *,
        seed: int,
        look_s: float = LOOK_S,
        tells: Tells | None = None,
    ) -> None:
        self.held: deque[tuple[SimulatedRequest, float, float]] = deque()  # with when, and what it was told
        self.tally = GrowthTally(slo)
        self._pools = {PoolName(one.pool.name): one for one in pools}
        for one in pools:
            if one.first > len(one.pool.replicas):
                raise InvalidSpec(f"pool {one.pool.name}: {one.first} replicas at first of {len(one.pool.replicas)}")
        self._scaler = scaler
        self._tells = tells
        self._chance = Random(f"cold starts {seed}")  # noqa: S311 (no secret)
        self._look_s = look_s
        self._looks_at_s = self._looked_at_s = self._now_s = 0.0
        self._was_held: set[int] = set()  # of the requests that were held and have been counted
        self._named = 0
        self._lives: dict[ReplicaId, _Life] = {}
        self._by_number: dict[int, _Life] = {}
        for one in pools:
            for place, listed in enumerate(one.pool.replicas[: one.first]):
                life = _Life(listed.id, one, 0.0, 0.0)
                life.stage, life.number = ReplicaStage.READY, len(self._by_number)
                self._lives[life.id] = self._by_number[life.number] = life
                self._named = max(self._named, place + 1)
        self._cold_starts_s: dict[PoolName, list[float]] = {name: [] for name in self._pools}
        self._clear()

    # What the run tells.

    def first(self, pool: str) -> int:
        """Replicas of a pool when the run begins."""
        return self._pools[PoolName(pool)].first

    def place(self, replica: ReplicaId, number: int) -> None:
        """The number that the run has given to a replica that is ready."""
        life = self._lives[replica]
        life.number = number
        self._by_number[number] = life

    def start(self, request: SimulatedRequest, number: int, risk: float) -> None:
        """A request goes to a replica."""
        if request.number in self._was_held:
            self._was_held.remove(request.number)
        else:
            self._arrivals += 1
            self._prompt_tokens += request.prompt_tokens
        self._risk += risk
        self._in_flight += 1
        self._by_number[number].in_flight += 1

    def hold(self, request: SimulatedRequest, now_s: float) -> None:
        """No replica is ready."""
        if len(self.held) >= HELD_MAX:
            self.tally.refuse(request)
            return
        if not self.held:
            self._looks_at_s = min(self._looks_at_s, now_s)  # the first one wakes the scaler
        told_s = 0.0 if self._tells is None else self._tells(self._observe(now_s, ()))
        self.held.append((request, now_s, told_s))
        self._was_held.add(request.number)
        self._arrivals += 1
        self._prompt_tokens += request.prompt_tokens

    def released(self) -> list[SimulatedRequest]:
        """Those that were held, now that a replica is ready."""
        requests = [request for request, _, _ in self.held]
        for _, since_s, told_s in self.held:
            self.tally.waits.append((told_s, self._now_s - since_s))
        self.held.clear()
        return requests

    def end(self, request: SimulatedRequest, number: int, first_at_s: float, now_s: float, cached_tokens: int) -> None:
        """A request is answered."""
        self._by_number[number].in_flight -= 1
        self._in_flight -= 1
        self._ended += 1
        self._output_tokens += request.output_tokens
        self._cached_tokens += cached_tokens
        self._late += not self.tally.end(request, first_at_s, now_s)

    # What the clock does.

    @property
    def next_at_s(self) -> float:
        """When something is due: a look, or a cold start that ends."""
        ready = min((one.ready_at_s for one in self._lives.values() if one.stage in COMING), default=inf)
        return min(self._looks_at_s, ready)

    def turn(self, now_s: float, replicas: Sequence[SimulatedReplica]) -> FleetChange:
        """Cold starts end, drained replicas leave, and the scaler looks if it is time to."""
        self._now_s = now_s
        ready = self._become_ready(now_s)
        gone = self._leave(now_s)
        change = FleetChange(ready=ready, gone=gone)
        if now_s >= self._looks_at_s:
            actions = self._scaler.look(self._observe(now_s, replicas))
            self._looked_at_s, self._looks_at_s = now_s, now_s + self._look_s
            self._clear()
            change = self._act(change, actions, now_s)
        provided = sum(one.stage in PROVIDED for one in self._lives.values())
        ready_now = sum(one.stage is ReplicaStage.READY for one in self._lives.values())
        self.tally.count(now_s, provided, ready_now, self._usd_per_hour())
        return change

    def _become_ready(self, now_s: float) -> tuple[tuple[LaidOutPool, Replica], ...]:
        found = []
        for one in self._lives.values():
            if one.stage in COMING and one.ready_at_s <= now_s:
                one.stage = ReplicaStage.READY
                picture = one.pool.pool.replicas[0]
                listed = structs.replace(picture, id=one.id, health=Health.READY)
                found.append((one.pool.pool, listed))
                self._cold_starts_s[picture.pool].append(now_s - one.asked_at_s)
        return tuple(found)

    def _leave(self, now_s: float) -> tuple[int, ...]:
        done = [one for one in self._lives.values() if one.stage is ReplicaStage.DRAINING and not one.in_flight]
        for one in done:
            self._forget(one, now_s)
        return tuple(one.number for one in done)

    def _forget(self, life: _Life, now_s: float) -> None:
        del self._lives[life.id]
        self._by_number.pop(life.number, None)
        self.tally.paid_s += now_s - life.asked_at_s
        self.tally.usd += (now_s - life.asked_at_s) / 3600 * _usd_per_hour(life.pool)

    def _act(self, change: FleetChange, actions: Sequence[ScalingAction], now_s: float) -> FleetChange:
        drains, stays = [], []
        for action in actions:
            if action.kind is ActionKind.ADD:
                assert action.pool is not None
                for _ in range(action.count):
                    self._ask(self._pools[action.pool], now_s)
            elif action.kind is ActionKind.DRAIN:
                for life in self._named_lives(action):
                    if life.stage is ReplicaStage.READY:
                        life.stage = ReplicaStage.DRAINING
                        drains.append(life.number)
                    elif life.stage in COMING:
                        self._forget(life, now_s)
            elif action.kind is ActionKind.KEEP:
                for life in self._named_lives(action):
                    life.stage = ReplicaStage.READY
                    stays.append(life.number)
        return structs.replace(change, drains=tuple(drains), stays=tuple(stays))

    def _named_lives(self, action: ScalingAction) -> list[_Life]:
        return [self._lives[one] for one in action.replicas if one in self._lives]

    def _ask(self, pool: GrowingPool, now_s: float) -> None:
        self._named += 1
        takes_s = pool.cold_start_s * exp(self._chance.gauss(0.0, pool.cold_start_spread))
        name = ReplicaId(f"{pool.pool.name}-{self._named}")
        self._lives[name] = _Life(name, pool, now_s, now_s + takes_s)

    def close(self, now_s: float) -> GrowthTally:
        """The run is over: all that is left is paid for until now."""
        for one in list(self._lives.values()):
            self._forget(one, now_s)
        return self.tally

    # What the scaler is told.

    def _clear(self) -> None:
        self._arrivals = self._prompt_tokens = self._ended = 0
        self._output_tokens = self._cached_tokens = self._late = 0
        self._risk = 0.0
        self._in_flight = sum(one.in_flight for one in self._lives.values())
        for those in self._cold_starts_s.values():
            those.clear()

    def _observe(self, now_s: float, replicas: Sequence[SimulatedReplica]) -> Observation:
        """Without replicas: only what does not depend on their gauges."""
        waiting = len(self.held)
        pools = []
        for name, pool in self._pools.items():
            lives = [one for one in self._lives.values() if one.pool is pool]
            ready = [one for one in lives if one.stage is ReplicaStage.READY and replicas and one.number >= 0]
            busy_s = 0.0
            for one in ready:
                replica = replicas[one.number]
                busy_s += replica.busy_s - one.busy_s
                one.busy_s = replica.busy_s
                waiting += replica.machine.waiting
            kv = sum(replicas[one.number].machine.kv_share for one in ready)
            count = max(1, len(ready))
            pools.append(
                PoolObservation(
                    pool=name,
                    replicas=tuple(
                        ScaledReplica(id=one.id, stage=one.stage, asked_at_s=one.asked_at_s, in_flight=one.in_flight)
                        for one in lives
                    ),
                    cold_starts_s=tuple(self._cold_starts_s[name]),
                    busy_share=min(1.0, busy_s / count / self._look_s),
                    kv_share=kv / count,
                )
            )
        return Observation(
            at_s=now_s,
            span_s=max(1.0, now_s - self._looked_at_s),
            arrivals=self._arrivals,
            prompt_tokens=self._prompt_tokens,
            ended=self._ended,
            output_tokens=self._output_tokens,
            cached_tokens=self._cached_tokens,
            late=self._late,
            risk=self._risk,
            in_flight=self._in_flight,
            waiting=waiting,
            held=len(self.held),
            pools=tuple(pools),
        )

    def _usd_per_hour(self) -> float:
        return sum(_usd_per_hour(one.pool) for one in self._lives.values())


def _usd_per_hour(pool: GrowingPool) -> float:
    return pool.pool.replicas[0].price.usd_per_hour or 0.0
