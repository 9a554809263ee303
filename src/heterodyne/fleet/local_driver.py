"""The fleet driver of this machine: every replica is a child process on a loopback port of its own.

A child that dies begins again on its port and counts as warming meanwhile. One that is given up is asked to end, then
ended; until it is gone it is shown as draining, as it still takes memory.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from heterodyne.domain.errors import DriverRefused, InvalidSpec, ScalerConflict
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet import machine_memory
from heterodyne.fleet.local_child import LocalChild, LocalPool
from heterodyne.fleet.machine_memory import GIB
from heterodyne.ports.fleet_driver import DrivenPool

RESERVE_BYTES = GIB // 4  # of the machine, that replicas leave alone


class Memory(Struct, frozen=True, kw_only=True):
    """How the machine is asked."""

    available_bytes: Callable[[], int | None] = machine_memory.available_bytes
    taken_bytes: Callable[[int], int] = machine_memory.taken_bytes


class LocalDriver:
    """One per supervisor."""

    name = "local"

    def __init__(
        self,
        pools: Mapping[PoolName, LocalPool],
        *,
        memory: Memory | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._pools = dict(pools)
        self._memory = memory or Memory()
        self._wall_clock = wall_clock
        self._wanted = {name: pool.first for name, pool in pools.items()}
        self._children: dict[PoolName, list[LocalChild]] = {name: [] for name in pools}
        self._named = dict.fromkeys(pools, 0)
        self._group: asyncio.TaskGroup | None = None  # None: it does not run

    async def run(self) -> None:
        """Keep the children until cancelled, then end them."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                for children in self._children.values():
                    for child in children:
                        child.start(group)
                self._fill()
                await asyncio.Event().wait()
        finally:
            self._group = None

    def take(self, pools: Mapping[PoolName, LocalPool]) -> None:
        """Other settings: pools come and go; children that run stay as they were started."""
        for name in self._pools.keys() - pools.keys():
            self._wanted[name] = 0
            self._trim(name, ())
        for name in pools.keys() - self._pools.keys():
            self._wanted[name], self._children[name], self._named[name] = pools[name].first, [], 0
        self._pools = dict(pools)
        for name, pool in pools.items():
            self._wanted[name] = min(self._wanted[name], pool.maximum)
            for child in self._children[name]:
                child.describe(pool)
            self._trim(name, ())
        self._fill()

    async def look(self) -> tuple[DrivenPool, ...]:
        """Every pool now."""
        self._forget_gone()
        return tuple(
            DrivenPool(
                pool=name,
                wanted=self._wanted[name],
                replicas=tuple(child.seen() for child in self._children[name]),
                maximum=self._maximum(name),
            )
            for name in self._pools
        )

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Start and end children until so many are left."""
        if pool not in self._pools:
            raise unknown_name("pool", pool, self._pools)
        if count < 0:
            raise InvalidSpec(f"pools.{pool}: {count} replicas; give 0 or more")
        wanted = self._wanted[pool]
        if wanted != seen:
            raise ScalerConflict(f"pools.{pool}: {wanted} replicas are wanted by now, not {seen}")
        if count > wanted:
            self._check_room(pool, count)
        self._wanted[pool] = count
        self._trim(pool, leaving)
        self._fill()

    def pid_of(self, replica: ReplicaId) -> int | None:
        """The process of a replica; None: it has none now."""
        found = [child for children in self._children.values() for child in children if child.id == replica]
        return found[0].pid if found else None

    def _check_room(self, name: PoolName, count: int) -> None:
        most = self._pools[name].maximum
        if count > most:
            raise DriverRefused(f"pools.{name}: {count} replicas, and {most} is the most that its settings allow")
        fitting = self._maximum(name)
        if count > fitting:
            each = (self._each_bytes(name) or 0) / GIB
            left = (self._memory.available_bytes() or 0) / GIB
            raise DriverRefused(
                f"pools.{name}: {count} replicas, and this machine has room for {fitting}: each takes {each:.2f} GiB "
                f"and {left:.2f} GiB are left"
            )

    def _maximum(self, name: PoolName) -> int:
        """Of the settings, or as many as there is memory for."""
        most, running = self._pools[name].maximum, len(self._staying(name))
        each, available = self._each_bytes(name), self._memory.available_bytes()
        if each is None or available is None:
            return most
        return min(most, running + max(0, available - RESERVE_BYTES) // each)

    def _each_bytes(self, name: PoolName) -> int | None:
        """What one more replica takes; None: none has shown it yet."""
        said = self._pools[name].memory_bytes
        if said is not None:
            return said
        taken = [self._memory.taken_bytes(child.pid) for child in self._staying(name) if child.pid is not None]
        return max(taken, default=0) or None

    def _staying(self, name: PoolName) -> list[LocalChild]:
        return [child for child in self._children[name] if not child.is_leaving]

    def _fill(self) -> None:
        """Begin what is missing; before it runs nothing is started."""
        if self._group is None:
            return
        for name, pool in self._pools.items():
            for _ in range(self._wanted[name] - len(self._staying(name))):
                child = LocalChild(ReplicaId(f"{name}-{self._named[name]}"), pool, self._wall_clock)
                self._named[name] += 1
                self._children[name].append(child)
                child.start(self._group)

    def _trim(self, name: PoolName, leaving: Sequence[ReplicaId]) -> None:
        """Those that were drained first, then those that are not ready, the youngest of them first."""
        staying = self._staying(name)
        order = sorted(
            staying, key=lambda one: (one.id not in leaving, one.stage is ReplicaStage.READY, -one.asked_at_s)
        )
        for child in order[: max(0, len(staying) - self._wanted[name])]:
            child.leave()

    def _forget_gone(self) -> None:
        for name, children in self._children.items():
            self._children[name] = [child for child in children if not child.is_gone]
