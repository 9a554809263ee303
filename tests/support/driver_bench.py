"""A fleet driver on the bench: what the contract needs beside the port itself, for each platform once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec import Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.ports.fleet_driver import DrivenPool, FleetDriver
from heterodyne.testing.scripted_fleet_driver import ScriptedFleetDriver

POLL_S = 0.02


class DriverBench(Struct, frozen=True, kw_only=True, eq=False):
    """A driver that runs, with one pool that has a single ready replica."""

    driver: FleetDriver
    pool: PoolName
    maximum: int  # of the pool; 3 at least, and more is refused
    kill: Callable[[ReplicaId], Awaitable[None]]  # a replica dies without being asked
    other_scaler: Callable[[int], Awaitable[None]] | None = None  # asks for a count; None: nobody else can
    start_timeout_s: float = 5.0  # in which a replica of the bench starts

    async def look(self) -> DrivenPool:
        """The pool now."""
        (found,) = [one for one in await self.driver.look() if one.pool == self.pool]
        return found

    async def when(self, is_so: Callable[[DrivenPool], bool]) -> DrivenPool:
        """The pool as soon as it is so."""
        async with deadline(self.start_timeout_s):
            while True:
                pool = await self.look()
                if is_so(pool):
                    return pool
                await asyncio.sleep(POLL_S)

    async def settled(self, count: int) -> DrivenPool:
        """Once exactly so many are ready and none else is there."""
        return await self.when(
            lambda pool: len(pool.replicas) == count and all(one.stage is ReplicaStage.READY for one in pool.replicas)
        )


OpenBench = Callable[[], AbstractAsyncContextManager[DriverBench]]


@asynccontextmanager
async def scripted_bench() -> AsyncIterator[DriverBench]:
    """The fake."""
    pool = PoolName("chat")
    driver = ScriptedFleetDriver({pool: 1}, replica_of, maximum=4)

    async def kill(replica: ReplicaId) -> None:
        driver.kill(replica)

    async def other_scaler(count: int) -> None:
        driver.other_scaler(pool, count)

    running = asyncio.create_task(driver.run())
    bench = DriverBench(driver=driver, pool=pool, maximum=4, kill=kill, other_scaler=other_scaler)
    try:
        await bench.settled(1)
        yield bench
    finally:
        running.cancel()
        await asyncio.wait((running,))


def replica_of(pool: PoolName, id: ReplicaId) -> Replica:
    """With an address where nobody listens."""
    return Replica(
        id=id, pool=pool, model="m", engine="openai", host="127.0.0.1", port=10_000 + int(id.rpartition("-")[2])
    )
