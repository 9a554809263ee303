"""History as an operator reads it, beside what the records themselves say."""

import hashlib
from math import ceil

import pytest
from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.guard import Guard
from heterodyne.console.history.figures import figures_of
from heterodyne.console.history.query import POINTS_DEFAULT, read_history_query
from heterodyne.console.history.routes import history_routes
from heterodyne.domain.history import HistoryGroup, Sums
from heterodyne.domain.usage import UsageRecord
from tests.support.asgi import ask
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

KEY = {"authorization": "Bearer secret", "host": "127.0.0.1"}
NOON = 1_793_534_400
NOW = NOON + 1830.0  # half past, and half a minute
DAY_S = 86400


def app(store: InlineBooks) -> Starlette:
    digests = (hashlib.sha256(b"secret").hexdigest(),)
    guard = Guard(Operators(digests), HostNames(("127.0.0.1",), has_keys=True))
    return Starlette(routes=[route.starlette() for route in history_routes(guard, store, lambda: NOW)])


def served(number: int, **other: object) -> UsageRecord:
    return record(
        number,
        at=NOON + number * 18.0,
        pool="h100" if number % 2 else "cpu",
        ttft_ms=10.0 * (number + 1),
        itl_ms=5.0,
        total_ms=100.0 + number,
        usd_micro=20,
        replica_s=0.5,
        **other,
    )


RECORDS = [
    *(served(number, promise="kept" if number % 4 else "broken", predicted_ttft_ms=20.0) for number in range(100)),
    record(200, at=NOON + 100.0, pool="", reason="queue_full", status=429),
]


async def books() -> InlineBooks:
    store = InlineBooks()
    await store.add(RECORDS)
    return store


async def test_every_figure_is_that_of_the_records() -> None:
    store = await books()
    page = (await ask(app(store), "GET", "/admin/history?by=pool", headers=KEY)).json()
    assert (page["since_at"], page["until_at"], page["step_s"]) == (NOON - 1800, NOON + 1860, 60)
    assert [line["group"] for line in page["lines"]] == [{"pool": ""}, {"pool": "cpu"}, {"pool": "h100"}]
    refused, _, line = page["lines"]
    same = [one for one in RECORDS if one.pool == "h100"]
    whole, span_s = line["whole"], NOW - (NOON - 1800)
    assert (whole["requests"], whole["errors"], whole["refused"]) == (50, 0, 0)
    assert (refused["whole"]["errors"], refused["whole"]["refused"]) == (1, 1)
    assert whole["requests_per_s"] == pytest.approx(50 / span_s)
    assert whole["tokens_per_s"] == pytest.approx(50 * 107 / span_s)
    assert whole["output_tokens_per_s"] == pytest.approx(50 * 7 / span_s)
    assert (whole["usd"], whole["replica_s"]) == (pytest.approx(0.001), pytest.approx(25.0))
    assert whole["usd_per_million_tokens"] == pytest.approx(20 / 107)
    assert (whole["promised"], whole["kept"], whole["attainment"]) == (50, 50, 1.0)
    times = sorted(one.ttft_ms for one in same)
    assert whole["ttft"]["count"] == 50
    assert whole["ttft"]["mean_ms"] == pytest.approx(sum(times) / 50)
    for name, share in (("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99), ("p999_ms", 0.999)):
        assert whole["ttft"][name] == pytest.approx(times[ceil(share * 50) - 1], rel=0.03)
    assert sum(point["figures"]["requests"] for point in line["points"]) == 50
    assert whole["queue"] == {
        "count": 0,
        "mean_ms": None,
        "p50_ms": None,
        "p90_ms": None,
        "p99_ms": None,
        "p999_ms": None,
    }
    store.close()


async def test_rates_are_over_the_part_of_a_step_that_has_passed() -> None:
    store = await books()
    await store.add([record(300 + number, at=NOW - 1) for number in range(15)])
    page = (await ask(app(store), "GET", f"/admin/history?since_at={NOON + 1770}&step_s=600", headers=KEY)).json()
    (line,) = page["lines"]
    first, last = line["points"]
    assert (first["at"], last["at"]) == (NOON + 1200, NOON + 1800)
    assert last["figures"]["requests_per_s"] == pytest.approx(15 / 30)
    assert first["figures"]["requests_per_s"] == pytest.approx(first["figures"]["requests"] / 60), (
        "a minute was asked for"
    )
    store.close()


async def test_filters_leave_the_others_out() -> None:
    store = await books()
    page = (await ask(app(store), "GET", "/admin/history?pool=cpu&class=interactive", headers=KEY)).json()
    (line,) = page["lines"]
    assert (line["group"], line["whole"]["requests"]) == ({}, 50)
    assert (await ask(app(store), "GET", "/admin/history?model=nobody", headers=KEY)).json()["lines"] == []
    store.close()


async def test_distributions_have_every_answered_request_in_them() -> None:
    store = await books()
    page = (await ask(app(store), "GET", f"/admin/latency?by=model&since_at={NOON}", headers=KEY)).json()
    (group,) = page["groups"]
    assert group["figures"]["requests"] == 101
    for name in ("ttft", "itl", "total"):
        bars = group[name]
        assert sum(bar["count"] for bar in bars) == 100
        assert [bar["up_to_ms"] for bar in bars] == sorted(bar["up_to_ms"] for bar in bars)
    up_to = group["ttft"][30]["up_to_ms"]
    assert sum(bar["count"] for bar in group["ttft"][:31]) == sum(
        one.ttft_ms is not None and one.ttft_ms <= up_to for one in RECORDS
    )
    assert group["queue"] == []
    store.close()


async def test_a_span_that_its_steps_would_cut_in_two_is_one_distribution() -> None:
    store = InlineBooks()
    await store.add([record(number, at=number * 61.0, ttft_ms=5.0) for number in range(60)])
    page = (await ask(app(store), "GET", "/admin/latency?since_at=100&until_at=3500", headers=KEY)).json()
    (group,) = page["groups"]
    assert (page["since_at"], page["until_at"]) == (60, 3540)
    assert group["figures"]["requests"] == sum(60 <= number * 61 < 3540 for number in range(60))
    store.close()


async def test_what_cannot_be_asked_is_refused_by_name() -> None:
    store = await books()
    for query, word in (
        ("/admin/history?by=pool,colour", "colour"),
        ("/admin/history?by=project", "project"),
        ("/admin/history?pol=h100", "pol"),
        ("/admin/history?step_s=61", "step_s"),
        ("/admin/history?step_s=0", "step_s"),
        ("/admin/history?step_s=-60", "step_s"),
        ("/admin/history?step_s=60&since_at=0", "step_s"),
        ("/admin/history?since_at=nan", "since_at"),
        ("/admin/history?until_at=1793534400000", "until_at"),
        (f"/admin/history?since_at={NOON + 99999}", "since_at"),
        ("/admin/latency?step_s=60", "step_s"),
        ("/admin/latency?since_at=5&until_at=5", "since_at"),
    ):
        answer = await ask(app(store), "GET", query, headers=KEY)
        assert (answer.status, word in answer.json()["error"]["message"]) == (400, True), query
    store.close()


async def test_nobody_without_a_key_sees_anything() -> None:
    store = await books()
    for path in ("/admin/history", "/admin/latency"):
        answer = await ask(app(store), "GET", path, headers={"host": "127.0.0.1"})
        assert (answer.status, b"requests" in answer.body) == (401, False)
    store.close()


@pytest.mark.parametrize("span_s", [60, 3600, 7300, DAY_S, 3 * DAY_S, 14 * DAY_S, 400 * DAY_S])
def test_an_answer_has_enough_points_and_not_too_many(span_s: int) -> None:
    query = read_history_query({"since_at": str(NOON - span_s), "until_at": str(NOON), "by": "pool, model"}, NOW)
    assert query.by == (HistoryGroup.POOL, HistoryGroup.MODEL)
    points = span_s / query.step_s
    assert points <= POINTS_DEFAULT
    assert points >= 28 or query.step_s == 60


def test_of_nothing_there_are_no_figures() -> None:
    found = figures_of(Sums(), 60.0)
    assert (found.usd_per_million_tokens, found.attainment, found.ttft_error, found.ttft.p50_ms) == (None,) * 4
    assert found.requests_per_s == 0.0
