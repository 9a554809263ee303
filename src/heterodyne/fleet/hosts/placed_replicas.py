"""Pure: the replicas of one pool that commands have started, the count that is wanted, and what is to be done."""

from collections.abc import Sequence

from msgspec import structs

from heterodyne.domain.fleet import ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.hosts.platform import CommandReplica, PlacedPool
from heterodyne.ports.fleet_driver import DrivenPool, DrivenReplica

PAUSE_FIRST_S = 1.0  # before what has died is replaced
PAUSE_MAX_S = 60.0
STEADY_S = 60.0  # what served this long is replaced at once
SILENT_S = 60.0  # a machine that does not answer for longer is believed to be away
NOTICE_S = 900.0  # what has less time left is said to be taken away, so that it is drained


class PlacedReplicas:
    """One per pool."""

    def __init__(self, pool: PlacedPool) -> None:
        self.pool = pool
        self.wanted: int | None = None  # None: the platform was not seen yet
        self.problem: str | None = None  # of the pool as a whole
        self._living: dict[str, _Placed] = {}
        self._leaving: dict[str, _Placed] = {}
        self._first_out: frozenset[str] = frozenset()  # that were drained
        self._pause_s, self._starts_at_s = 0.0, 0.0
        self._silent: set[str] = set()  # whose machine is believed to be away: they leave when it is back
        self._lost: str | None = None  # what became of the last one that is not replaced yet

    def ask(self, count: int, leaving: Sequence[ReplicaId]) -> None:
        """So many are wanted; these go first."""
        self.wanted, self._first_out = count, frozenset(leaving)

    def see(self, found: Sequence[CommandReplica], now_s: float) -> tuple[CommandReplica, ...]:
        """Take what the platform has; those that it returns have ended, and are to be cleared away."""
        ended = [one for one in found if one.is_ended or one.is_cancelled]
        for one in ended:
            self._end(one, now_s)
        there = {one.id: one for one in found if not one.is_ended and not one.is_cancelled}
        self._silent &= there.keys()
        appeared = 0
        for one in there.values():
            if one.id in self._silent:
                if not one.is_silent:
                    self._silent.remove(one.id)
                    self._leaving[one.id] = _Placed(one, asked_at_s=now_s)
                continue
            known = self._living.get(one.id) or self._leaving.get(one.id)
            if known is None:
                known = self._living[one.id] = _Placed(one, asked_at_s=now_s - (one.ran_s or 0.0))
                appeared += 0 if one.is_ours else 1
            known.see(one, now_s)
        for id in [id for id in self._leaving if id not in there]:
            del self._leaving[id]
        for id in [id for id in self._living if id not in there]:
            self._lose(id, "it is gone", now_s)
        if self.wanted is None:
            self.wanted = min(max(appeared or self.pool.pool.first, self.pool.pool.minimum), self.pool.pool.maximum)
        else:  # nobody here has started them
            self.wanted += appeared
        for id, one_there in list(self._living.items()):
            if one_there.silent_since_s is not None and now_s - one_there.silent_since_s > SILENT_S:
                self._silent.add(id)
                self._lose(id, one_there.found.problem or "its machine is silent", now_s)
        return tuple(ended)

    def give_up_late(self, now_s: float) -> None:
        """Those that were not ready in their time leave."""
        limit_s = self.pool.pool.start_timeout_s
        slow = [id for id, one in self._living.items() if one.is_late(now_s, limit_s)]
        for id in slow:
            self._leaving[id] = self._living[id]
            self._lose(id, f"not ready after {limit_s:.0f} s", now_s)

    def missing(self, now_s: float) -> int:
        """How many are to be started now."""
        return 0 if now_s < self._starts_at_s else max(0, (self.wanted or 0) - len(self._living))

    def started(self, one: CommandReplica, now_s: float) -> None:
        """It was; the platform has taken it."""
        self._living[one.id] = _Placed(one, asked_at_s=now_s, instead=self._lost)
        self._lost = self.problem = None

    def refused(self, why: str, now_s: float) -> None:
        """One was not started; it is tried again later."""
        self.problem = why
        self._pause(now_s)

    def trim(self) -> None:
        """Those that are too many leave: who was drained first, then who is not ready, the youngest of them first."""
        order = sorted(
            self._living.items(),
            key=lambda item: (item[0] not in self._first_out, item[1].ready_at_s is not None, -item[1].asked_at_s),
        )
        for id, _ in order[: max(0, len(self._living) - (self.wanted or 0))]:
            self._leaving[id] = self._living.pop(id)

    def to_stop(self) -> tuple[CommandReplica, ...]:
        """All that leave and are still there."""
        return tuple(one.found for one in self._leaving.values())

    def to_probe(self) -> tuple[CommandReplica, ...]:
        """Those whose health page has not answered yet."""
        return tuple(
            one.found for one in self._living.values() if one.ready_at_s is None and one.found.host is not None
        )

    def ready(self, id: str, now_s: float) -> None:
        """Its health page answers."""
        if id in self._living:
            self._living[id].ready_at_s = now_s

    def told(self, now_s: float) -> DrivenPool:
        """As the autoscaler sees it."""
        return DrivenPool(
            pool=self.pool.name,
            wanted=self.wanted or 0,
            replicas=(
                *(self._driven(one, now_s, one.stage) for one in self._living.values()),
                *(self._driven(one, now_s, ReplicaStage.DRAINING) for one in self._leaving.values()),
            ),
            maximum=self.pool.pool.maximum,
            problem=self.problem,
        )

    def _end(self, one: CommandReplica, now_s: float) -> None:
        if self._leaving.pop(one.id, None) is not None or one.id not in self._living:
            return
        if one.is_cancelled:
            del self._living[one.id]
            self.wanted = max(0, (self.wanted or 0) - 1)
        else:
            self._lose(one.id, one.problem or "it has ended", now_s)

    def _lose(self, id: str, why: str, now_s: float) -> None:
        gone = self._living.pop(id)
        self._lost = f"in place of {id}, {gone.found.place}: {why}"
        if gone.ready_at_s is not None and now_s - gone.ready_at_s > STEADY_S:
            self._pause_s = 0.0
        elif gone.ready_at_s is None:
            self._pause(now_s)

    def _pause(self, now_s: float) -> None:
        self._pause_s = min(max(2 * self._pause_s, PAUSE_FIRST_S), PAUSE_MAX_S)
        self._starts_at_s = now_s + self._pause_s

    def _driven(self, one: "_Placed", now_s: float, stage: ReplicaStage) -> DrivenReplica:
        found, picture = one.found, self.pool.pool.replica
        replica = None
        if found.host is not None:
            replica = structs.replace(picture, id=ReplicaId(found.id), host=found.host, port=found.port)
        problem = found.problem or (one.instead if one.ready_at_s is None else None)
        is_short = found.left_s is not None and found.left_s < NOTICE_S
        return DrivenReplica(
            id=ReplicaId(found.id),
            stage=stage,
            asked_at_s=one.asked_at_s,
            ready_at_s=one.ready_at_s,
            replica=replica,
            taken_at_s=now_s + found.left_s if is_short and found.left_s is not None else None,
            problem=None if problem is None else f"{found.place}: {problem}",
        )


class _Placed:
    """One of them."""

    def __init__(self, found: CommandReplica, *, asked_at_s: float, instead: str | None = None) -> None:
        self.found, self.asked_at_s, self.instead = found, asked_at_s, instead
        self.ready_at_s: float | None = None
        self.silent_since_s: float | None = None
        self._placed_at_s: float | None = None  # None: it has no machine yet

    @property
    def stage(self) -> ReplicaStage:
        if self.found.host is None:
            return ReplicaStage.PENDING
        return ReplicaStage.WARMING if self.ready_at_s is None else ReplicaStage.READY

    def see(self, found: CommandReplica, now_s: float) -> None:
        self.found = found
        if found.host is not None and self._placed_at_s is None:
            self._placed_at_s = now_s
        if not found.is_silent:
            self.silent_since_s = None
        elif self.silent_since_s is None:
            self.silent_since_s = now_s

    def is_late(self, now_s: float, limit_s: float) -> bool:
        """Its time begins when it has a machine: until then it waits for others."""
        return self.ready_at_s is None and self._placed_at_s is not None and now_s - self._placed_at_s > limit_s
