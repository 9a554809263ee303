"""A fleet driver without machines: replicas start after a scripted time, die when told to, and calls fail on order."""

import asyncio
import time
from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from heterodyne.domain.errors import DriverRefused, DriverUnavailable, InvalidSpec, ScalerConflict
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.ports.fleet_driver import DrivenPool, DrivenReplica

Addressed = Callable[[PoolName, ReplicaId], Replica]  # how gateways reach a replica


class Asked(Struct, frozen=True, kw_only=True):
    """One call of `scale` that was taken."""

    pool: PoolName
    count: int
    leaving: tuple[ReplicaId, ...]


class ScriptedFleetDriver:
    """Everything in memory; what was asked of it is in `asked`."""

    name = "scripted"

    def __init__(
        self,
        pools: dict[PoolName, int],
        addressed: Addressed,
        *,
        start_s: float = 0.05,
        maximum: int | None = 8,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`pools` with how many replicas each has at first."""
        self.asked: list[Asked] = []
        self.is_away = False  # whether every call finds nobody
        self.start_s = start_s
        self._addressed, self._maximum, self._clock = addressed, maximum, clock
        self._pools: dict[PoolName, DrivenPool] = {}
        self._named = 0
        for pool, count in pools.items():
            self._pools[pool] = DrivenPool(pool=pool, wanted=count, maximum=maximum)
            self._fill(pool)

    async def run(self) -> None:
        """There is nothing to follow."""
        await asyncio.Event().wait()

    async def look(self) -> tuple[DrivenPool, ...]:
        """As it is now."""
        self._answer()
        for pool in self._pools.values():
            ready = tuple(self._grown(one) for one in pool.replicas)
            self._pools[pool.pool] = structs.replace(pool, replicas=ready)
        return tuple(self._pools.values())

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Take the wish, or refuse it."""
        self._answer()
        known = self._pools.get(pool)
        if known is None:
            raise unknown_name("pool", pool, self._pools)
        if count < 0:
            raise InvalidSpec(f"pools.{pool}: {count} replicas; give 0 or more")
        if known.wanted != seen:
            raise ScalerConflict(f"pools.{pool}: {known.wanted} replicas are wanted, not {seen}")
        if self._maximum is not None and count > self._maximum:
            raise DriverRefused(f"pools.{pool}: {count} replicas, and {self._maximum} is the most")
        self.asked.append(Asked(pool=pool, count=count, leaving=tuple(leaving)))
        kept = sorted(known.replicas, key=lambda one: one.id in leaving)[:count]
        self._pools[pool] = structs.replace(known, wanted=count, replicas=tuple(kept))
        self._fill(pool)

    def kill(self, replica: ReplicaId) -> None:
        """One dies; another takes its place."""
        for pool in self._pools.values():
            left = tuple(one for one in pool.replicas if one.id != replica)
            self._pools[pool.pool] = structs.replace(pool, replicas=left)
            self._fill(pool.pool)

    def other_scaler(self, pool: PoolName, count: int) -> None:
        """Somebody else asks for another number."""
        self._pools[pool] = structs.replace(self._pools[pool], wanted=count)
        self._fill(pool)

    def _answer(self) -> None:
        if self.is_away:
            raise DriverUnavailable("scripted: nobody answers")

    def _fill(self, name: PoolName) -> None:
        pool = self._pools[name]
        more = []
        for _ in range(pool.wanted - len(pool.replicas)):
            id = ReplicaId(f"{name}-{self._named}")
            self._named += 1
            more.append(DrivenReplica(id=id, stage=ReplicaStage.WARMING, asked_at_s=self._clock()))
        self._pools[name] = structs.replace(pool, replicas=(*pool.replicas[: pool.wanted], *more))

    def _grown(self, one: DrivenReplica) -> DrivenReplica:
        if one.stage is not ReplicaStage.WARMING or self._clock() < one.asked_at_s + self.start_s:
            return one
        (pool,) = (pool.pool for pool in self._pools.values() if one in pool.replicas)
        return structs.replace(
            one, stage=ReplicaStage.READY, ready_at_s=self._clock(), replica=self._addressed(pool, one.id)
        )
