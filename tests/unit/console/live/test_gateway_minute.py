"""One console's minute of all gateways."""

from heterodyne.console.live.gateway_minute import POOLS_MAX, GatewayMinute, OtherGateway, minute_of, window_of_all
from heterodyne.console.live.recent_activity import RecentActivity, RecentWindow
from heterodyne.domain.history import Sums
from heterodyne.domain.usage_tally import UsageTally
from tests.support.consoles import live_service
from tests.support.plain_sums import sums_of
from tests.support.usage_records import record

NOON = 1_793_534_400.0


def activity(*numbers: int, pool: str = "chat") -> RecentActivity:
    recent_activity = RecentActivity()
    records = [record(number, at=NOON - 10.0, total_ms=1000.0, pool=pool) for number in numbers]
    recent_activity.on_added(UsageTally(records))
    return recent_activity


def other(name: str, recent_activity: RecentActivity) -> OtherGateway:
    return OtherGateway(name=name, minute=minute_of(recent_activity.window(NOON), in_flight=3, queued=2), settings="v2")


def test_the_minute_of_all_gateways_is_that_of_all_their_records() -> None:
    window = window_of_all(
        activity(1, 2).window(NOON), [other("b", activity(3)), other("c", activity(4, 5, pool="spare"))]
    )
    records = [record(number, at=NOON - 10.0, total_ms=1000.0, pool="chat") for number in range(1, 6)]
    assert window.whole == sums_of(records)
    assert {pool: sums.requests for pool, sums in window.by_pool.items()} == {"chat": 3, "spare": 2}


def test_a_page_says_which_gateways_it_is_of() -> None:
    live = live_service(activity(1), now=lambda: NOON, others=lambda: (other("b:8080", activity(2, 3)),))
    page = live.page()
    assert page.whole.requests == 3
    assert (page.in_flight, page.queued) == (3, 2)
    (line,) = page.gateways
    assert (line.name, line.in_flight, line.queued, line.last_minute.requests) == ("b:8080", 3, 2, 2)
    assert line.settings == "v2"
    assert not live_service(activity(1), now=lambda: NOON).page().gateways


def test_of_very_many_pools_the_busiest_are_told() -> None:
    by_pool = {f"p{number}": Sums(requests=number) for number in range(POOLS_MAX + 5)}
    told = minute_of(RecentWindow(until_at=0, whole=Sums(), by_pool=by_pool), in_flight=0, queued=0)
    assert len(told.by_pool) == POOLS_MAX
    assert min(one.requests for one in told.by_pool.values()) == 5
    assert told == GatewayMinute(by_pool=told.by_pool)
