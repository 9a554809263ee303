"""Pools and replicas as the console shows them."""

from msgspec.structs import replace

from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow, WorkerOpinion
from heterodyne.console.history.figures import figures_of
from heterodyne.console.live.pages import PoolRow
from heterodyne.console.live.pool_rows import pool_rows, replica_lines
from heterodyne.console.live.recent_activity import WINDOW_S, RecentActivity
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health
from heterodyne.domain.price import Price
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.routing.health.breaker import BreakerState
from tests.support.admin_fleets import REPLICA
from tests.support.consoles import live_service
from tests.support.plain_sums import sums_of
from tests.support.usage_records import record

NOON = 1_793_534_400.0
UNKNOWN = 1024


def opinion(limit: int | None, ejected_for_s: float | None = None) -> WorkerOpinion:
    return WorkerOpinion(
        worker="worker-0",
        health=Health.READY,
        obstacle=None,
        breaker=BreakerState.CLOSED,
        ejected_for_s=ejected_for_s,
        in_flight=0,
        in_flight_limit=limit,
    )


def row_of(*rows: ReplicaRow) -> PoolRow:
    recent_activity = RecentActivity()
    page = FleetPage(version=1, is_applied=True, workers=(), replicas=rows, reload=None)
    [row] = pool_rows(page, recent_activity.window(NOON), recent_activity.sparks(NOON), UNKNOWN)
    return row


def test_the_load_is_a_share_of_what_workers_allow_together() -> None:
    one = replace(REPLICA, in_flight=6, workers=(opinion(10), opinion(6)))
    other = replace(one, id="chat-1", in_flight=2)
    row = row_of(one, other)
    assert (row.in_flight, row.in_flight_max, row.load) == (8, 32, 0.25)
    drained = replace(other, state=ReplicaCondition.DRAINED, in_flight=0)
    assert row_of(one, drained).in_flight_max == 16


def test_without_a_known_limit_the_load_is_that_of_its_memory() -> None:
    one = replace(REPLICA, in_flight=6, workers=(opinion(UNKNOWN),), load=EngineLoad(kv_share=0.5))
    other = replace(one, id="chat-1", load=EngineLoad(kv_share=0.25))
    row = row_of(one, other)
    assert (row.in_flight_max, row.load, row.kv_share) == (None, 0.375, 0.375)
    assert row_of(replace(REPLICA, workers=(opinion(None),))).load is None


def test_states_prices_and_gauges_are_added_up() -> None:
    load = EngineLoad(running=2, waiting=1, prefix_query_tokens=100.0, prefix_hit_tokens=25.0)
    rows = (
        replace(REPLICA, load=load, problems=("slow",)),
        replace(REPLICA, id="b", state=ReplicaCondition.DRAINING, load=EngineLoad(running=3), problems=("slow",)),
        replace(REPLICA, id="c", state=ReplicaCondition.DRAINED),
        replace(REPLICA, id="d", state=ReplicaCondition.DOWN),
    )
    row = row_of(*rows)
    assert (row.replicas, row.ready, row.drained, row.down) == (4, 1, 2, 1)
    assert (row.running, row.waiting, row.prefix_hit_share) == (5, 1, 0.25)
    assert (row.usd_per_hour, row.problems) == (14.4, ("slow",))


def test_a_hosted_pool_is_paid_by_the_token() -> None:
    price = Price(usd_per_million_prompt_tokens=0.1, usd_per_million_completion_tokens=0.4)
    row = row_of(replace(REPLICA, price=price))
    assert (row.usd_per_hour, row.usd_per_million_completion_tokens) == (None, 0.4)


def test_a_replica_that_one_worker_has_ejected_is_shown_so() -> None:
    ejected = replace(REPLICA, workers=(opinion(4), opinion(4, ejected_for_s=3.0)))
    page = FleetPage(version=1, is_applied=True, workers=(), replicas=(REPLICA, ejected), reload=None)
    assert [line.is_ejected for line in replica_lines(page)] == [False, True]


def test_figures_on_the_page_are_those_of_the_records() -> None:
    recent_activity = RecentActivity()
    records = [
        record(number, at=NOON - 40 + number, total_ms=900.0, pool="chat", ttft_ms=10.0 * number + 1)
        for number in range(20)
    ]
    refused = record(99, at=NOON - 10, pool="", status=503, reason="overloaded")
    recent_activity.on_added(UsageTally([*records, refused]))
    page = live_service(recent_activity, now=lambda: NOON).page()
    [pool] = page.pools
    assert pool.last_minute == figures_of(sums_of(records), WINDOW_S)
    assert page.whole == figures_of(sums_of([*records, refused]), WINDOW_S)
    assert (page.window_s, page.until_at) == (WINDOW_S, int(NOON) - 2)
    assert page.requests[0].id == refused.id
    assert page.left_out == 0


def test_of_many_requests_most_are_left_out_and_counted() -> None:
    recent_activity = RecentActivity()
    recent_activity.on_added(UsageTally([record(number) for number in range(100)]))
    service = live_service(recent_activity)
    assert (len(service.page().requests), service.page().left_out) == (60, 40)
    assert (len(service.page(since=95).requests), service.page(since=95).left_out) == (5, 0)
    recent_activity.on_added(UsageTally([record(number) for number in range(20_000)]))
    assert service.page(since=100).left_out == 19_940


def test_a_killed_pool_says_nothing_of_what_runs_there() -> None:
    load = EngineLoad(running=1, waiting=2, kv_share=0.5)
    down = replace(REPLICA, state=ReplicaCondition.DOWN, load=load, load_age_s=2.0)
    row = row_of(down)
    assert (row.running, row.waiting, row.kv_share, row.load) == (None, None, None, None)
    page = FleetPage(version=1, is_applied=True, workers=(), replicas=(down,), reload=None)
    assert replica_lines(page)[0].running is None


def test_a_gauge_that_was_read_long_ago_is_not_shown_as_now() -> None:
    load = EngineLoad(running=1)
    assert row_of(replace(REPLICA, load=load, load_age_s=1.0)).running == 1
    assert row_of(replace(REPLICA, load=load, load_age_s=60.0)).running is None


def test_what_was_started_here_is_counted_for_only_that_can_be_restarted() -> None:
    row = row_of(replace(REPLICA, is_local=True), replace(REPLICA, id="b"))
    assert (row.replicas, row.local) == (2, 1)
