"""Signals made of real books, a page of the fleet, and what workers left."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from heterodyne.alerts.signals import AlertWindow, Signals
from heterodyne.audit.audit_writer import AuditWriterState
from heterodyne.audit.log import LogState
from heterodyne.books.collector import CollectorState
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, WorkerOpinion
from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.fleet import Health
from heterodyne.domain.history import History, HistoryQuery
from heterodyne.supervisor.alerts.recent_samples import RecentSamples
from heterodyne.supervisor.alerts.signals import SignalMaker
from heterodyne.telemetry import exposition, metrics
from heterodyne.telemetry.meters import Sample
from tests.support.admin_fleets import REPLICA, WORKER
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

NOW = 1_793_534_400.0  # a whole minute


class Scene:
    """What a maker looks at; a test changes it between two looks."""

    def __init__(self, run_dir: Path) -> None:
        self.books = InlineBooks()
        self.page: FleetPage | None = FleetPage(
            version=1, is_applied=True, workers=(WORKER,), replicas=(REPLICA,), reload=None
        )
        self.collecting = CollectorState(backlog_bytes=10, backlog_bytes_max=100)
        self.writer = AuditWriterState(
            state=LogState(log="l", seq=0, hash="", segment=1, segment_bytes=0), collected=0, failures=4, failure=None
        )
        self.run_dir = run_dir
        self.maker = SignalMaker(
            history=self.books,
            run_dir=run_dir,
            page=lambda: self.page,
            books=lambda: self.collecting,
            audit=lambda: self.writer,
            limits=self.limits,
        )

    async def limits(self) -> tuple[LimitUse, ...]:
        return (
            LimitUse(level="organisation:acme", limit_name="usd_per_day", limit=10.0, used=9.5, resets_at=None),
            LimitUse(level="project:acme/none", limit_name="usd_per_day", limit=0.0, used=0.0, resets_at=None),
        )

    def queue(self, model: str, depth: float) -> None:
        """As a worker leaves it."""
        exposition.write_samples(
            self.run_dir, "worker-0", [Sample(metrics.queue_depth.name, (model, "interactive"), [depth])]
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_windows_add_up_the_records_in_them(scene: Scene) -> None:
    ages_s = {"now": 30, "quarter": 900, "hours": 4 * 3600, "days": 2 * 86400}
    records = [
        record(number, at=NOW - age_s, model="llama", promise="broken" if number % 2 else "kept", ttft_ms=100.0)
        for number, age_s in enumerate(ages_s.values())
    ]
    await scene.books.add(records)
    for looks in range(18):  # the hours of three days, some at a time
        signals = await scene.maker.make(NOW + looks)
    assert signals.models is not None
    (llama,) = signals.models
    assert {window: tally.requests for window, tally in llama.tallies.items()} == {
        AlertWindow.M5: 1,
        AlertWindow.M30: 2,
        AlertWindow.H1: 2,
        AlertWindow.H6: 3,
        AlertWindow.D3: 4,
    }
    assert llama.tallies[AlertWindow.D3].promised == 4
    assert llama.tallies[AlertWindow.D3].broken == 2
    assert llama.ttft_p99 is not None
    assert (llama.ttft_p99.count, llama.ttft_p99.ms) == (1, pytest.approx(100.0, rel=0.03))
    assert llama.ttft_p999 is not None
    assert llama.ttft_p999.count == 2


async def test_faults_are_errors_of_the_fleet_and_no_others(scene: Scene) -> None:
    ended = [(200, ""), (429, "rate_limit_exceeded"), (499, "client_gone"), (502, "engine_broke")]
    ended += [(503, "no_spare_capacity"), (503, "queue_full"), (500, "gateway_killed")]
    await scene.books.add(
        [record(number, at=NOW - 10, status=status, reason=reason) for number, (status, reason) in enumerate(ended)]
    )
    signals = await scene.maker.make(NOW)
    assert signals.models is not None
    tally = signals.models[0].tallies[AlertWindow.M5]
    assert (tally.requests, tally.faults) == (7, 3)


async def test_the_median_error_of_predictions_is_by_pool(scene: Scene) -> None:
    await scene.books.add(
        [
            record(number, at=NOW - 60, pool="h100", ttft_ms=150.0, predicted_ttft_ms=100.0)  # ln 1.5 = 0.405
            for number in range(3)
        ]
    )
    signals = await scene.maker.make(NOW)
    assert signals.predictions is not None
    (h100,) = signals.predictions
    assert (h100.pool, h100.count, h100.median) == ("h100", 3, pytest.approx(0.405, rel=0.03))


async def test_long_windows_are_read_again_only_now_and_then_and_hours_that_are_over_once(scene: Scene) -> None:
    asked: list[HistoryQuery] = []

    class Counting:
        async def history(self, query: HistoryQuery) -> History:
            asked.append(query)
            return await scene.books.history(query)

    maker = SignalMaker(
        history=Counting(), run_dir=scene.run_dir, page=lambda: None, books=lambda: None, audit=lambda: None
    )
    for looks in range(30):
        await maker.make(NOW + 15 * looks)
    spans_s = [query.until_at - query.since_at for query in asked if query.until_at > NOW - 3600]
    assert spans_s.count(300.0) >= 30
    assert spans_s.count(6 * 3600.0) == 4
    over = [query.since_at for query in asked if query.until_at - query.since_at == 3600 and query.since_at % 3600 == 0]
    days = [at for at in over if at < NOW - 3600]  # the last of them is also the window of an hour
    assert len(days) == len(set(days)) == 71


async def test_a_store_that_is_away_leaves_history_unknown_and_the_rest_as_it_is(scene: Scene) -> None:
    class Away:
        async def history(self, query: HistoryQuery) -> History:
            raise StoreUnavailable("away")

    maker = SignalMaker(
        history=Away(), run_dir=scene.run_dir, page=lambda: scene.page, books=lambda: None, audit=lambda: None
    )
    signals = await maker.make(NOW)
    assert signals.models is None
    assert signals.predictions is None
    assert signals.books is None
    assert signals.pools is not None


def opinion(worker: str, limit: int, ejected_for_s: float | None = None) -> WorkerOpinion:
    return WorkerOpinion(
        worker=worker,
        health=Health.READY,
        obstacle=None,
        breaker=None,
        ejected_for_s=ejected_for_s,
        in_flight=0,
        in_flight_limit=limit,
    )


async def test_a_pool_is_what_its_replicas_are(scene: Scene) -> None:
    ready = replace(
        REPLICA,
        id="a",
        in_flight=7,
        load=EngineLoad(running=5, waiting=2, kv_share=0.5),
        workers=(opinion("worker-0", 8), opinion("worker-1", 8, ejected_for_s=3.0)),
    )
    full = replace(ready, id="b", load=EngineLoad(kv_share=0.9), workers=(opinion("worker-0", 4),))
    down = replace(REPLICA, id="c", state=ReplicaCondition.DOWN)
    drained = replace(REPLICA, id="d", state=ReplicaCondition.DRAINED)
    starting = replace(REPLICA, id="e", state=ReplicaCondition.STARTING)
    assert scene.page is not None
    scene.page = replace(scene.page, replicas=(ready, full, down, drained, starting))
    signals = await scene.maker.make(NOW)
    assert signals.pools is not None
    (pool,) = signals.pools
    assert (pool.ready, pool.down, pool.wanted, pool.starting) == (2, 1, 1, 1)
    assert (pool.in_flight, pool.in_flight_max) == (14, 20)
    assert (pool.running, pool.waiting, pool.kv_share) == (5, 2, pytest.approx(0.7))
    assert signals.replicas is not None
    assert [one.replica for one in signals.replicas if one.is_ejected] == ["a"]


async def test_counters_are_told_by_what_they_grew_since_half_an_hour_ago(scene: Scene) -> None:
    async def look(at: float, restarts: int, failures: int) -> Signals:
        assert scene.page is not None
        scene.page = replace(scene.page, workers=(replace(WORKER, restarts=restarts),))
        scene.writer = replace(scene.writer, failures=failures)
        return await scene.maker.make(at)

    first, second, third = await look(NOW, 5, 4), await look(NOW + 900, 7, 4), await look(NOW + 1900, 8, 6)
    assert [one.worker_restarts for one in (first, second, third)] == [0, 2, 1]
    assert third.audit is not None
    assert third.audit.failures == 2
    assert scene.maker.worker_restarts() == 8


async def test_a_queue_is_compared_with_what_it_was_five_minutes_ago(scene: Scene) -> None:
    scene.queue("llama", 3.0)
    first = await scene.maker.make(NOW)
    scene.queue("llama", 9.0)
    second = await scene.maker.make(NOW + 300)
    assert first.queues is not None
    assert second.queues is not None
    assert [(one.depth, one.depth_before) for one in (*first.queues, *second.queues)] == [(3.0, None), (9.0, 3.0)]


async def test_limits_are_shares_and_a_limit_of_nothing_has_none(scene: Scene) -> None:
    signals = await scene.maker.make(NOW)
    assert signals.limits is not None
    assert [(one.level, one.limit, one.ratio) for one in signals.limits] == [
        ("organisation:acme", "usd_per_day", pytest.approx(0.95))
    ]


async def test_books_say_how_full_the_spool_is(scene: Scene) -> None:
    signals = await scene.maker.make(NOW)
    assert signals.books is not None
    assert (signals.books.filled, signals.books.problem) == (0.1, None)


def test_a_counter_that_began_anew_has_grown_by_what_it_says() -> None:
    looks = RecentSamples()
    for at, value in enumerate((5.0, 8.0, 2.0, 3.0)):
        looks.note(float(at), {"n": value})
    assert looks.growth("n") == 3 + 2 + 1
    assert looks.growth("unknown") == 0
