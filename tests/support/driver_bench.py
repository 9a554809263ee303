"""A fleet driver on the bench: what the contract needs beside the port itself, for each platform once."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from msgspec import Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import DriverUnavailable
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.replica_stage import ReplicaStage
from heterodyne.fleet.child_order import CommandOrder
from heterodyne.fleet.local_child import LocalPool
from heterodyne.fleet.local_driver import LocalDriver
from heterodyne.ports.fleet_driver import DrivenPool, FleetDriver
from heterodyne.testing.scripted_fleet_driver import ScriptedFleetDriver
from tests.support.kubernetes.driver import MAXIMUM, POOL, driven_cluster

POLL_S = 0.02
SERVER = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Ok(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

HTTPServer(("127.0.0.1", int(sys.argv[1])), Ok).serve_forever()
"""


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
                with suppress(DriverUnavailable):  # it has not heard its platform yet
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


@asynccontextmanager
async def local_bench() -> AsyncIterator[DriverBench]:
    """Processes of this machine, each a small HTTP server."""
    pool = PoolName("chat")
    driver = LocalDriver({pool: small_server(pool)})

    async def kill(replica: ReplicaId) -> None:
        pid = driver.pid_of(replica)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    running = asyncio.create_task(driver.run())
    bench = DriverBench(driver=driver, pool=pool, maximum=4, kill=kill, start_timeout_s=30.0)
    try:
        await bench.settled(1)
        yield bench
    finally:
        running.cancel()
        await asyncio.wait((running,))


@asynccontextmanager
async def kubernetes_bench() -> AsyncIterator[DriverBench]:
    """A Deployment of a stand-in for a cluster."""
    async with driven_cluster() as cluster:

        async def kill(replica: ReplicaId) -> None:
            await cluster.controllers.kill(replica)

        bench = DriverBench(
            driver=cluster.driver,
            pool=POOL,
            maximum=MAXIMUM,
            kill=kill,
            other_scaler=cluster.set_count,
        )
        await bench.settled(1)
        yield bench


def small_server(pool: PoolName) -> LocalPool:
    """A command that starts soon and is ready at once."""
    return LocalPool(
        replica=replica_of(pool, ReplicaId(f"{pool}-0")),
        order=CommandOrder(words=("{python}", "-S", "-c", SERVER, "{port}"), health_path="/"),
        first=1,
        maximum=4,
        start_timeout_s=20.0,
    )


def replica_of(pool: PoolName, id: ReplicaId) -> Replica:
    """With an address where nobody listens."""
    return Replica(
        id=id, pool=pool, model="m", engine="openai", host="127.0.0.1", port=10_000 + int(id.rpartition("-")[2])
    )
