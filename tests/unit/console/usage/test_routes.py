"""What the admin API says about usage, and whom it says it to."""

import hashlib

from starlette.applications import Starlette

from heterodyne.admission.host_names import HostNames
from heterodyne.console.access.operators import Operators
from heterodyne.console.guard import Guard
from heterodyne.console.usage.routes import usage_routes
from heterodyne.domain.usage import Uptime
from tests.support.asgi import ask
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

KEY = {"authorization": "Bearer secret", "host": "127.0.0.1"}


async def books() -> InlineBooks:
    store = InlineBooks()
    await store.add([record(number, model="a" if number < 3 else "b", replica_s=0.5) for number in range(5)])
    await store.add_uptime(
        [Uptime(day="2026-11-01", pool="h100", hardware="", source="s", up_us=10_000_000, usd_micro=50)]
    )
    return store


def app(store: InlineBooks) -> Starlette:
    digests = (hashlib.sha256(b"secret").hexdigest(),)
    guard = Guard(Operators(digests), HostNames(("127.0.0.1",), has_keys=True))
    return Starlette(routes=[route.starlette() for route in usage_routes(guard, store)])


async def test_usage_by_group_with_a_filter() -> None:
    store = await books()
    answer = await ask(app(store), "GET", "/admin/usage?by=model,day&project=acme/search", headers=KEY)
    assert answer.status == 200
    assert [(row["group"], row["requests"], row["completion_tokens"]) for row in answer.json()["rows"]] == [
        ({"model": "a", "day": "2026-11-01"}, 3, 21),
        ({"model": "b", "day": "2026-11-01"}, 2, 14),
    ]
    store.close()


async def test_requests_page_by_page() -> None:
    store = await books()
    first = (await ask(app(store), "GET", "/admin/usage/requests?limit=3", headers=KEY)).json()
    assert [row["id"] for row in first["requests"]] == ["req_0004", "req_0003", "req_0002"]
    assert first["requests"][0]["class"] == "interactive"
    rest = await ask(app(store), "GET", f"/admin/usage/requests?limit=3&after={first['next']}", headers=KEY)
    assert [row["id"] for row in rest.json()["requests"]] == ["req_0001", "req_0000"]
    assert rest.json()["next"] is None
    store.close()


async def test_single_requests_are_searched() -> None:
    store = await books()
    await store.add(
        [
            record(10, reason="stalled", status=502, retries=1, promise="broken", replica="h100-1"),
            record(11, ttft_ms=800.0, total_ms=9000.0, promise="kept", model="b"),
        ]
    )
    for query, found in (
        ("id=req_0010", [10]),
        ("status=502", [10]),
        ("reason=stalled", [10]),
        ("replica=h100-1", [10]),
        ("errors=true", [10]),
        ("errors=false&slower_than_ms=799.5", [11]),
        ("longer_than_ms=9000&model=b", [11]),
        ("retried=true", [10]),
        ("promise=kept", [11]),
        ("promise=kept&errors=true", []),
    ):
        page = (await ask(app(store), "GET", f"/admin/usage/requests?{query}", headers=KEY)).json()
        assert [row["id"] for row in page["requests"]] == [f"req_{number:04d}" for number in found], query
    store.close()


async def test_idle_cost_stands_apart() -> None:
    store = await books()
    (row,) = (await ask(app(store), "GET", "/admin/usage/idle?since=2026-11-01", headers=KEY)).json()["rows"]
    assert row["hours"]["up_us"] == 10_000_000
    assert (row["cost"]["busy_share"], row["cost"]["idle_usd_micro"]) == (0.25, 50)
    store.close()


async def test_nobody_without_a_key_sees_anything() -> None:
    store = await books()
    for path in ("/admin/usage", "/admin/usage/requests", "/admin/usage/idle"):
        answer = await ask(app(store), "GET", path, headers={"host": "127.0.0.1"})
        assert answer.status == 401
        assert b"acme" not in answer.body
    store.close()


async def test_what_cannot_be_asked_is_refused_by_name() -> None:
    store = await books()
    for query, word in (
        ("/admin/usage?by=model,colour", "colour"),
        ("/admin/usage?since=20261101", "since"),
        ("/admin/usage?projekt=acme", "projekt"),
        ("/admin/usage/idle?until=tomorrow", "until"),
        ("/admin/usage/requests?limit=100000", "limit"),
        ("/admin/usage/requests?since_at=nan", "since_at"),
        ("/admin/usage/requests?after=x", "after"),
        ("/admin/usage/requests?limit=0", "limit"),
        ("/admin/usage/requests?status=ok", "status"),
        ("/admin/usage/requests?status=1000", "status"),
        ("/admin/usage/requests?errors=yes", "errors"),
        ("/admin/usage/requests?retried=1", "retried"),
        ("/admin/usage/requests?slower_than_ms=slow", "slower_than_ms"),
        ("/admin/usage/requests?longer_than_ms=-1", "longer_than_ms"),
        ("/admin/usage/requests?promise=maybe", "promise"),
    ):
        answer = await ask(app(store), "GET", query, headers=KEY)
        assert (answer.status, word in answer.json()["error"]["message"]) == (400, True), query
    store.close()
