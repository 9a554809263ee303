"""A fleet's watch in the test's own loop, over real servers, in a hurry."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from heterodyne.control.fleet_watch import FleetWatch
from heterodyne.control.probe_schedule import ProbeSchedule
from heterodyne.control.problems import ProblemKind
from heterodyne.control.replica_seen import ReplicaSeen
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.engines.catalogue import ENGINES
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from heterodyne.wire.connection_pool import ConnectionPool

HASTY = ProbeSchedule(
    ready_interval_s=0.02,
    down_interval_min_s=0.01,
    down_interval_max_s=0.02,
    probes_per_s_max=10_000,
    probes_per_s_at_replica_max=10_000,
)
WAIT_S = 5.0


def hundredfold() -> float:
    """A clock on which ten seconds are over in a tenth of one."""
    return time.monotonic() * 100


class Pages(ScriptedEngine):
    """Gives what it was told to every GET, and remembers what it was asked."""

    def __init__(self, **pages: tuple[int, bytes]) -> None:
        super().__init__(behaviours.answer())
        self.pages = {"/" + name.replace("_", "/"): page for name, page in pages.items()}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []

    def answer_get(self, call: EngineCall) -> None:
        self.asked.append(call.path)
        self.headers.append(call.headers)
        status, body = self.pages.get(call.path, (404, b"{}"))
        call.whole(status, body)


def replica(port: int, index: int = 0, **changes: object) -> Replica:
    """One on loopback, of the pool `p`."""
    fields: dict[str, object] = {
        "id": ReplicaId(f"p-{index}"),
        "pool": PoolName("p"),
        "model": "scripted",
        "engine": "openai",
        "host": "127.0.0.1",
        "port": port,
    }
    return Replica(**{**fields, **changes})  # type: ignore[arg-type]


class Watched:
    """The watch and everything it told."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.published: list[FleetSnapshot] = []
        self.probes: Counter[ReplicaId] = Counter()
        self.failed_probes: Counter[ReplicaId] = Counter()
        self.restarts: Counter[ReplicaId] = Counter()
        self.answers: Counter[ReplicaId] = Counter()
        self.watch: FleetWatch
        self.pool: ConnectionPool

    def seen(self, index: int = 0) -> ReplicaSeen:
        return self.watch.snapshot().replicas[index]

    def latest(self, index: int = 0) -> Replica:
        return self.published[-1].replicas[index]

    def kinds(self, index: int = 0) -> set[ProblemKind]:
        return {problem.kind for problem in self.seen(index).problems}

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                await asyncio.sleep(0.002)

    async def until_health(self, health: Health, index: int = 0) -> None:
        """Until it has been published."""
        await self.until(lambda: bool(self.published) and self.latest(index).health is health)


@asynccontextmanager
async def watching(
    *replicas: Replica, pace: ProbeSchedule = HASTY, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[Watched]:
    """The watch of these replicas, running; at the end it leaves no task and no connection."""
    watched = Watched(clock)
    watched.pool = ConnectionPool(asyncio.get_running_loop(), idle_max=1)

    def on_probe(id: ReplicaId, now_s: float) -> None:
        watched.probes[id] += 1

    def on_failed_probe(id: ReplicaId) -> None:
        watched.failed_probes[id] += 1

    def on_restart(id: ReplicaId) -> None:
        watched.restarts[id] += 1

    watched.watch = FleetWatch(
        ENGINES,
        watched.pool,
        FleetSnapshot.of(0, replicas),
        watched.published.append,
        clock=clock,
        chance=lambda: 0.5,
        pace=pace,
        on_probe=on_probe,
        on_failed_probe=on_failed_probe,
        on_restart=on_restart,
        answers_of=lambda id: watched.answers[id],
    )
    task = asyncio.create_task(watched.watch.run())
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not [one for one in asyncio.all_tasks() if one.get_name().startswith("watch ")]
        assert watched.pool.snapshot() == {}
