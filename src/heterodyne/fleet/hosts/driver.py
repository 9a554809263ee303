"""The fleet driver of commands that start replicas on other machines: over SSH, or as jobs of Slurm.

What runs there stays when the gateway ends, and is found again. The count is the gateway's; what somebody else starts
or ends changes it, and is seen by that.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverRefused, DriverUnavailable
from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.domain.nearest import unknown_name
from heterodyne.fleet.command_pool import check_count
from heterodyne.fleet.hosts.health import is_healthy
from heterodyne.fleet.hosts.placed_replicas import PlacedReplicas
from heterodyne.fleet.hosts.platform import CommandPlatform, CommandReplica, PlacedPool
from heterodyne.ports.fleet_driver import DrivenPool
from heterodyne.telemetry import log

POLL_S = 2.0
PAUSE_MAX_S = 30.0  # between two tries of a platform that is away
STARTS_MAX = 8  # of one pool at once

_log = log.get("fleet")


class HostsDriver:
    """One per platform and supervisor."""

    def __init__(
        self,
        platform: CommandPlatform,
        pools: Mapping[PoolName, PlacedPool],
        *,
        poll_s: float = POLL_S,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = platform.name
        self._platform, self._poll_s, self._wall_clock = platform, poll_s, wall_clock
        self._pools = {name: PlacedReplicas(pool) for name, pool in pools.items()}
        self._dropped: dict[PoolName, PlacedReplicas] = {}  # that a reload took out, until they have no replicas
        self._errors: dict[PoolName, DriverUnavailable] = {}
        self._stopping: dict[str, asyncio.Task[None]] = {}
        self._wakes = asyncio.Event()

    async def run(self) -> None:
        """Look after the pools until cancelled; the replicas stay."""
        try:
            async with asyncio.TaskGroup() as group:
                pause_s = self._poll_s
                while True:
                    self._wakes.clear()
                    await self._turn(group)
                    is_away = bool(self._errors) and self._errors.keys() >= self._pools.keys()
                    pause_s = min(2 * pause_s, PAUSE_MAX_S) if is_away else self._poll_s
                    await self._nap(pause_s)
        finally:
            self._stopping.clear()

    def take(self, pools: Mapping[PoolName, PlacedPool]) -> None:
        """Other settings: a pool that is gone is emptied; replicas that run stay as they were started."""
        for name in self._pools.keys() - pools.keys():
            dropped = self._dropped[name] = self._pools.pop(name)
            dropped.ask(0, ())
        for name, pool in pools.items():
            known = self._pools.get(name) or self._dropped.pop(name, None) or PlacedReplicas(pool)
            known.pool = pool
            if known.wanted is not None:
                known.ask(min(max(known.wanted, pool.pool.minimum), pool.pool.maximum), ())
            self._pools[name] = known
        self._wakes.set()

    async def look(self) -> tuple[DrivenPool, ...]:
        """As they were seen last; raises `DriverUnavailable` where nothing of them is known now."""
        if not self._pools:
            return ()
        now_s = self._wall_clock()
        known = [(name, pool) for name, pool in self._pools.items() if pool.wanted is not None]
        if all(name in self._errors for name, _ in known):
            raise next(iter(self._errors.values()), None) or DriverUnavailable(f"{self.name}: not asked yet")
        return tuple(
            structs.replace(pool.told(now_s), problem=str(self._errors[name]))
            if name in self._errors
            else pool.told(now_s)
            for name, pool in known
        )

    async def scale(self, pool: PoolName, count: int, *, seen: int, leaving: Sequence[ReplicaId] = ()) -> None:
        """Take the count; what it takes is begun at once."""
        if pool not in self._pools:
            raise unknown_name("pool", pool, self._pools)
        placed = self._pools[pool]
        check_count(placed.pool.pool, count, seen=seen, wanted=placed.wanted)
        if placed.wanted is None or pool in self._errors:
            raise self._errors.get(pool) or DriverUnavailable(f"pools.{pool}: not seen yet")
        placed.ask(count, leaving)
        placed.trim()
        self._wakes.set()

    async def _turn(self, group: asyncio.TaskGroup) -> None:
        """Every pool once, all at the same time."""
        pools = {**self._pools, **self._dropped}
        async with asyncio.TaskGroup() as turns:
            for name, placed in pools.items():
                turns.create_task(self._tend(name, placed, group), name=f"{self.name} {name}")
        for name in self._errors.keys() - pools.keys():
            del self._errors[name]
        for name in [name for name, placed in self._dropped.items() if not placed.told(0.0).replicas]:
            del self._dropped[name]

    async def _tend(self, name: PoolName, placed: PlacedReplicas, group: asyncio.TaskGroup) -> None:
        try:
            found = await self._platform.find(placed.pool)
        except DriverUnavailable as error:
            self._errors[name] = error
            return
        self._errors.pop(name, None)
        for one in placed.see(found, self._wall_clock()):
            if not one.is_cancelled:
                _log.warning("replica_ended", platform=self.name, pool=name, place=one.place, error=one.problem)
            if one.is_ended:
                self._stop(group, placed.pool, one)
        placed.give_up_late(self._wall_clock())
        placed.trim()
        for one in placed.to_stop():
            self._stop(group, placed.pool, one)
        for _ in range(min(placed.missing(self._wall_clock()), STARTS_MAX)):
            if not await self._start(placed):
                break
        await self._probe(placed)

    async def _start(self, placed: PlacedReplicas) -> bool:
        try:
            one = await self._platform.start(placed.pool)
        except (DriverRefused, DriverUnavailable) as error:
            placed.refused(str(error), self._wall_clock())
            return False
        placed.started(one, self._wall_clock())
        _log.info("replica_started", platform=self.name, pool=placed.pool.name, place=one.place)
        return True

    async def _probe(self, placed: PlacedReplicas) -> None:
        async with asyncio.TaskGroup() as probes:
            for one in placed.to_probe():
                probes.create_task(self._note_health(placed, one), name=f"health {one.id}")

    async def _note_health(self, placed: PlacedReplicas, one: CommandReplica) -> None:
        if one.host is not None and await is_healthy(one.host, one.port, placed.pool.pool.health_path):
            placed.ready(one.id, self._wall_clock())

    def _stop(self, group: asyncio.TaskGroup, pool: PlacedPool, one: CommandReplica) -> None:
        """Begin to end it, once at a time: it may take its time."""
        if one.id in self._stopping:
            return
        stopping = group.create_task(self._end(pool, one), name=f"stop {one.id}")
        self._stopping[one.id] = stopping
        stopping.add_done_callback(lambda _: self._stopping.pop(one.id, None))

    async def _end(self, pool: PlacedPool, one: CommandReplica) -> None:
        try:
            await self._platform.stop(pool, one)
        except DriverUnavailable as error:  # it is still there at the next look, and asked again
            _log.warning("replica_not_ended", platform=self.name, pool=pool.name, place=one.place, error=str(error))
        self._wakes.set()

    async def _nap(self, pause_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with deadline(pause_s):
                await self._wakes.wait()
