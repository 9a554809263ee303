"""What one worker has in flight, avoids and has learned, as another one goes by it."""

import pytest
from msgspec import structs

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.reports.report import REPLICAS_MAX, ReplicaLoad, WorkerReport, decode, encode, engine_key
from heterodyne.routing.reports.report_book import STALE_S
from heterodyne.routing.router import Router
from heterodyne.routing.settings import RoutingSettings
from heterodyne.routing.worker_reports import WorkerReports
from tests.support.replica_states import ROUND, even, fleet, replica, replica_state, routing_request, send

REPLICAS = [replica(name, port=number) for number, name in enumerate("abcd")]


class Worker:
    """Its router, its health, its reports."""

    def __init__(self, name: str) -> None:
        self.name = name
        snapshot = fleet(*REPLICAS)
        self.router = Router(snapshot, prior_of=lambda _: ROUND, chance=even, now_s=0.0, has_others=True)
        self.health = FleetHealth(RoutingSettings(), snapshot, 0.0)
        self.reports = WorkerReports(self.router, lambda: self.health, name=name)

    def tell(self, other: "Worker", now_s: float, age_s: float = 0.0) -> None:
        version, body = self.reports.compose(now_s - age_s)
        other.reports.hear(self.name, version, now_s - age_s, body)
        other.reports.apply(now_s)

    def fail(self, name: str, now_s: float, times: int = 5) -> None:
        for _ in range(times):
            trial = self.health.of(ReplicaId(name)).on_start(now_s, 10)
            self.health.of(ReplicaId(name)).on_end(Outcome.BROKE, now_s, trial)

    def usable(self, now_s: float) -> str:
        return "".join(one.id for one in self.health.usable("m", now_s))


@pytest.fixture
def two() -> tuple[Worker, Worker]:
    return Worker("one"), Worker("two")


def test_a_replica_that_another_worker_fills_is_not_chosen(two: tuple[Worker, Worker]) -> None:
    one, other = two
    request = routing_request(5000)
    for name in "abc":
        one.router.start(request, one.router.forecast(request, ReplicaId(name), 0.0), 0.0)
    one.tell(other, 0.1)
    assert other.router.decide(request, REPLICAS, 0.1).target.id == "d"
    assert other.router.forecast(request, ReplicaId("a"), 0.1).ttft_s > 0.5 + 0.35, "it waits for the prompt before it"


def test_a_forecast_is_what_it_would_be_were_it_all_ones_own(two: tuple[Worker, Worker]) -> None:
    one, other = two
    request = routing_request(3000, 200)
    both = Worker("both")
    for worker in (one, both):
        for _ in range(3):
            worker.router.start(request, worker.router.forecast(request, ReplicaId("a"), 0.0), 0.0)
    one.tell(other, 0.0)
    theirs, own = (worker.router.forecast(request, ReplicaId("a"), 0.0) for worker in (other, both))
    for figure in ("ttft_s", "itl_s", "load", "backlog_s", "risk"):
        assert getattr(theirs, figure) == pytest.approx(getattr(own, figure), rel=1e-6), figure


def test_what_was_heard_of_a_worker_that_is_gone_is_forgotten(two: tuple[Worker, Worker]) -> None:
    one, other = two
    request = routing_request()
    one.router.start(request, one.router.forecast(request, ReplicaId("a"), 0.0), 0.0)
    one.tell(other, 0.0)
    alone = Worker("alone").router.forecast(request, ReplicaId("a"), STALE_S + 1.0).ttft_s
    other.reports.apply(STALE_S - 0.1)
    assert other.router.forecast(request, ReplicaId("a"), STALE_S - 0.1).load > 0.015
    other.reports.apply(STALE_S + 1.0)
    assert other.router.forecast(request, ReplicaId("a"), STALE_S + 1.0).ttft_s == pytest.approx(alone)
    assert other.reports.known() == {}


def test_what_gauges_and_reports_both_count_is_counted_once() -> None:
    state = replica_state()
    state.hear(ReplicaLoad(in_flight=6, context_tokens=6000.0), 0.5)
    gauges = EngineLoad(running=10, waiting=0, kv_share=None, kv_tokens=None)
    state.publish(structs.replace(state.replica, load=gauges, load_at_s=1.0), 1.0)
    assert state.others == 10.0, "six by report, four of strangers"
    state.hear(ReplicaLoad(in_flight=2, context_tokens=2000.0), 1.2)
    assert state.others == 6.0, "four that others report have ended; the strangers are still there"
    state.hear(ReplicaLoad(), 1.4)
    assert state.others == 4.0


def test_reports_alone_count_where_an_engine_has_no_gauges() -> None:
    state = replica_state()
    state.hear(ReplicaLoad(in_flight=3, waiting=1, waiting_tokens=500.0, context_tokens=3000.0, backlog_s=0.2), 0.0)
    assert (state.others, state.all_waiting) == (3.0, 1)
    assert forecast_on(state, routing_request(), 0.0, 0.0).backlog_s == pytest.approx(0.2)
    assert forecast_on(state, routing_request(), 0.0, 0.15).backlog_s == pytest.approx(0.05), (
        "it is worked off meanwhile"
    )


def test_what_is_told_of_ones_own_does_not_contain_what_was_heard() -> None:
    state = replica_state()
    send(state, routing_request(2000))
    before = state.load(0.0)
    state.hear(ReplicaLoad(in_flight=3, waiting=2, waiting_tokens=900.0, context_tokens=3000.0, backlog_s=0.2), 0.0)
    after = state.load(0.0)
    assert after.backlog_s == pytest.approx(before.backlog_s)
    assert structs.replace(after, backlog_s=0.0) == structs.replace(before, backlog_s=0.0)


def test_prompts_that_others_had_computed_meanwhile_are_counted_once_and_their_past_is_not() -> None:
    state = replica_state()
    state.hear(ReplicaLoad(in_flight=1, work_done_s=500.0), 10.0)
    assert state.areas(10.0)[2] == 0.0, "all that others ever sent is not of now"
    state.hear(ReplicaLoad(in_flight=1, work_done_s=500.5), 10.2)
    state.hear(ReplicaLoad(in_flight=1, work_done_s=500.5), 10.4)
    assert state.areas(10.4)[2] == pytest.approx(0.5)
    state.hear(ReplicaLoad(in_flight=1, work_done_s=200.0), 10.6)  # one of them is gone
    state.hear(ReplicaLoad(in_flight=1, work_done_s=900.0), 10.8)  # another has come
    assert state.areas(10.8)[2] == pytest.approx(0.5)


def test_an_ejection_that_one_has_seen_is_heeded_by_the_other(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.fail("b", 1.0)
    one.tell(other, 1.2)
    assert other.usable(1.2) == "acd"
    assert other.health.own_ejections(1.2) == {}, "it tells nobody what it has only heard"


def test_an_ejection_ends_where_the_other_ends_it(two: tuple[Worker, Worker]) -> None:
    one, other = two
    one.fail("b", 1.0)
    one.tell(other, 1.2)
    one.health.on_probe(ReplicaId("b"), 20.0)
    assert one.usable(40.0) == "abcd"
    one.tell(other, 40.0)
    assert other.usable(40.0) == "abcd"


def test_a_success_of_ones_own_counts_for_more_than_what_was_heard(two: tuple[Worker, Worker]) -> None:
    one, other = two
    trial = other.health.of(ReplicaId("b")).on_start(0.5, 10)
    one.fail("b", 1.0)
    one.tell(other, 1.2)
    other.health.of(ReplicaId("b")).on_end(Outcome.SUCCESS, 1.3, trial)
    assert other.usable(1.3) == "abcd"
    one.tell(other, 1.4)
    assert other.usable(1.4) == "abcd", "the same ejection is not believed again"


def test_a_worker_that_reaches_nobody_does_not_take_the_fleet_from_others(two: tuple[Worker, Worker]) -> None:
    one, other = two
    for name in "abcd":
        one.fail(name, 1.0, times=20)  # breakers know no share of the pool
    one.tell(other, 1.2)
    assert len(other.usable(1.2)) == 3, "of a pool of four one may be out"


def test_a_worker_that_starts_begins_from_what_others_have_learned(two: tuple[Worker, Worker]) -> None:
    one, other = two
    request = routing_request(2000)
    for number in range(60):
        now_s = float(number)
        forecast = one.router.forecast(request, ReplicaId("a"), now_s)
        ticket = one.router.start(request, forecast, now_s)
        ticket.first_token(now_s + 0.6)  # three times as long as by the prior
        ticket.end(now_s + 0.9, output_tokens=20)
    knows = one.router.forecast(request, ReplicaId("b"), 60.0).ttft_s
    assert knows > 0.5
    assert other.router.forecast(request, ReplicaId("b"), 60.0).ttft_s < 0.3
    one.tell(other, 60.0)
    assert other.router.forecast(request, ReplicaId("b"), 60.0).ttft_s == pytest.approx(knows, rel=0.1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        encode(WorkerReport())[:-1],
        encode(WorkerReport(loads={"a": ReplicaLoad(in_flight=1, waiting=2)})),
        encode(WorkerReport(loads={"a": ReplicaLoad(in_flight=-1)})),
        encode(WorkerReport(loads={"a": ReplicaLoad(in_flight=1, context_tokens=float("nan"))})),
        encode(WorkerReport(loads={"a": ReplicaLoad(in_flight=1, backlog_s=float("inf"))})),
        encode(WorkerReport(ejections={"a": -1.0})),
    ],
)
def test_a_report_that_no_worker_would_send_is_refused_and_counts_for_nothing(
    body: bytes, two: tuple[Worker, Worker]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(body)
    _, other = two
    with pytest.raises(ValueError, match=r"."):
        other.reports.hear("one", 1, 0.0, body)
    assert other.reports.known() == {"one": 1}, "so that it is not read again and again"
    other.reports.apply(0.1)
    assert other.usable(0.1) == "abcd"


def test_a_report_stays_within_its_bounds_however_large_the_fleet() -> None:
    loads = {f"{number:016x}": ReplicaLoad(in_flight=number, context_tokens=1e6) for number in range(2 * REPLICAS_MAX)}
    kept = decode(encode(WorkerReport(loads=loads))).loads
    assert len(kept) == REPLICAS_MAX
    assert min(load.in_flight for load in kept.values()) == REPLICAS_MAX, "those with the least are left out"


def test_engines_are_the_same_by_address_and_model_except_on_loopback() -> None:
    far, near = replica("a", host="10.0.0.1"), replica("a", host="127.0.0.1")
    assert engine_key(far, "here") == engine_key(structs.replace(far, id=ReplicaId("other")), "there")
    assert engine_key(near, "here") != engine_key(near, "there")
    assert engine_key(far, "here") != engine_key(structs.replace(far, port=2), "here")
    assert engine_key(far, "here") != engine_key(structs.replace(far, model="n"), "here")
