"""Reports go out and come in; a store that is away is asked more and more rarely, and what it said is forgotten."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from heterodyne.control import report_loop
from heterodyne.control.report_loop import OUTBOX_MAX, GossipOutbox, ReportLoop
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.fleet import ReplicaId
from heterodyne.ports.fleet_reports import ReportAnswer, ReportCall, ReportEntry
from heterodyne.routing.reports.report import ReplicaLoad, WorkerReport, encode
from heterodyne.routing.router import Router
from heterodyne.routing.worker_reports import WorkerReports
from heterodyne.telemetry import metrics
from tests.support.replica_states import ROUND, even, fleet, replica, routing_request

DEADLINE_S = 10.0


class Store:
    """Answers with what it is given; away while it is told to be."""

    def __init__(self) -> None:
        self.calls: list[ReportCall] = []
        self.entries: list[ReportEntry] = []
        self.gossip: list[bytes] = []
        self.is_away = False
        self.left: list[str] = []

    async def exchange(self, call: ReportCall) -> ReportAnswer:
        self.calls.append(call)
        if self.is_away:
            raise StoreUnavailable("away")
        gossip, self.gossip = self.gossip, []
        return ReportAnswer(entries=tuple(self.entries), gossip=tuple(gossip), gossip_to=f"{len(self.calls)}-0")

    async def leave(self, sender: str) -> None:
        self.left.append(sender)
        if self.is_away:
            raise StoreUnavailable("away")

    async def close(self) -> None:
        pass


class Clock:
    """As late as the loop has slept."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Bench:
    def __init__(self) -> None:
        self.store, self.clock = Store(), Clock()
        self.router = Router(fleet(replica("a")), prior_of=lambda _: ROUND, chance=even, now_s=0.0, has_others=True)
        self.heard: list[bytes] = []
        self.said = [b"1", b"2"]
        self.loop = ReportLoop(
            self.store,
            WorkerReports(self.router, None, name="me"),
            sender="me",
            gateway="g",
            outbox=GossipOutbox(lambda: self.said.pop(0) if self.said else None, has_near=False),
            hear_gossip=self._hear,
            clock=self.clock,
        )

    def _hear(self, message: bytes) -> None:
        if message == b"bad":
            raise ValueError("bad")
        self.heard.append(message)

    def load(self) -> float:
        return self.router.forecast(routing_request(), ReplicaId("a"), self.clock.now_s).load


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    made, really = Bench(), asyncio.sleep

    async def sleep(seconds: float) -> None:
        made.clock.now_s += seconds
        await really(0)

    monkeypatch.setattr(report_loop.asyncio, "sleep", sleep)
    return made


@asynccontextmanager
async def running(bench: Bench) -> AsyncIterator[None]:
    task = asyncio.ensure_future(bench.loop.run())
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield
    finally:
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled(), task.exception()


async def until(bench: Bench, at_s: float) -> None:
    while bench.clock.now_s < at_s:
        await bench_yield()


async def bench_yield() -> None:
    """One turn of the event loop; `asyncio.sleep` belongs to the loop that is tested."""
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, None)
    await future


async def test_what_others_say_counts_and_what_cannot_be_read_does_not(bench: Bench) -> None:
    alone = bench.load()
    body = encode(WorkerReport(loads={bench.router.keys()[ReplicaId("a")]: ReplicaLoad(in_flight=10)}))
    bench.store.entries = [
        ReportEntry(sender="you", version=1, age_s=0.1, body=body),
        ReportEntry(sender="odd", version=1, age_s=0.1, body=b"\xc1"),
    ]
    bench.store.gossip = [b"bad", b"good"]
    async with running(bench):
        await until(bench, 1.0)
    assert bench.load() == pytest.approx(alone + 0.1)
    assert bench.heard == [b"good"]
    assert bench.store.calls[0].gossip == [b"1", b"2"]
    assert bench.store.calls[1].known == {"you": 1, "odd": 1}
    assert bench.store.calls[1].gossip_after == "1-0"
    assert metrics.report_peers.cell(())[0] == 2


async def test_while_the_store_is_away_it_is_asked_more_rarely_and_what_it_said_is_forgotten(bench: Bench) -> None:
    alone = bench.load()
    body = encode(WorkerReport(loads={bench.router.keys()[ReplicaId("a")]: ReplicaLoad(in_flight=10)}))
    bench.store.entries = [ReportEntry(sender="you", version=1, age_s=0.0, body=body)]
    async with running(bench):
        await until(bench, 1.0)
        bench.store.is_away = True
        asked = len(bench.store.calls)
        await until(bench, 3.5)
        assert bench.load() == pytest.approx(alone), "in little more than two seconds, however rarely it is asked"
        await until(bench, 61.0)
        assert len(bench.store.calls) - asked < 40
        assert metrics.reports_away.cell(())[0] == 1
        bench.store.is_away = False
        bench.store.entries = [ReportEntry(sender="you", version=2, age_s=0.0, body=body)]
        await until(bench, 64.0)
        assert bench.load() == pytest.approx(alone + 0.1), "within three seconds of its return"
        assert metrics.reports_away.cell(())[0] == 0


@pytest.mark.parametrize("is_away", [False, True])
async def test_a_worker_that_ends_withdraws_its_report_and_bears_that_it_cannot(bench: Bench, is_away: bool) -> None:
    async with running(bench):
        await until(bench, 1.0)
        bench.store.is_away = is_away
    assert bench.store.left == ["me"]


def test_gossip_goes_to_neighbours_and_to_far_gateways() -> None:
    messages = [b"%d" % number for number in range(3)]
    outbox = GossipOutbox(lambda: messages.pop(0) if messages else None, has_near=True)
    assert outbox.take_far() is None, "it waits for the neighbours' channel"
    assert [outbox.take_near() for _ in range(4)] == [b"0", b"1", b"2", None]
    assert [outbox.take_far() for _ in range(4)] == [b"0", b"1", b"2", None]


def test_what_waits_for_far_gateways_is_bounded_and_the_oldest_goes() -> None:
    outbox = GossipOutbox(lambda: b"x", has_near=True)
    for _ in range(3 * OUTBOX_MAX):
        outbox.take_near()
    taken = 0
    while outbox.take_far() is not None:
        taken += 1
    assert taken == OUTBOX_MAX
