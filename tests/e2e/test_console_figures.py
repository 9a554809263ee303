"""Every figure that the console shows is the one that the request records of the same window add up to."""

import json
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate
from math import ceil
from typing import Any

import pytest

from tests.support.mixed_fleet import Example, running, wait_until
from tests.support.mixed_traffic import REQUESTS, UNKNOWN, send_traffic

SUMS = ("prompt_tokens", "cached_tokens", "completion_tokens")
GROUPS = ("pool", "model", "hardware", "tier", "class")
WITHIN = 0.03  # of a percentile: buckets are not finer

Json = dict[str, Any]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    with running(tmp_path_factory.mktemp("fleet")) as example:
        send_traffic(example)
        yield example


@pytest.fixture(scope="module")
def records(fleet: Example) -> list[Json]:
    """As the books have them, page by page; those that the worker wrote into its own file are the same."""
    found: list[Json] = []
    after: Json = {}
    while True:
        page = ask(fleet, "/admin/usage/requests", limit=20, **after)
        found += page["requests"]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert len(found) == REQUESTS + UNKNOWN
    wait_until(lambda: len(fleet.records()) == len(found), 10, "the worker's own records")
    written = {one["id"]: one for one in fleet.records()}
    for one in found:
        own = written[one["id"]]
        assert [one[name] for name in SUMS] == [own.get(name, 0) for name in SUMS]
        assert (one["status"], one["pool"], one["promise"]) == (
            own["status"],
            own.get("pool", ""),
            own.get("promise", ""),
        )
        assert one["ttft_ms"] == own.get("ttft_ms")
    return found


def ask(example: Example, path: str, **query: object) -> Json:
    url = f"{example.console_url}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        found: Json = json.load(answer)
        return found


def span(records: list[Json]) -> Json:
    """Whole minutes around all of them."""
    times = [one["at"] for one in records]
    return {"since_at": min(times) // 60 * 60, "until_at": max(times) // 60 * 60 + 60}


def check(figures: Json, records: list[Json]) -> None:
    """Counts and sums exactly, dollars to the millionth, percentiles as finely as they are kept."""
    assert figures["requests"] == len(records)
    assert figures["errors"] == sum(bool(one["reason"]) for one in records)
    assert figures["refused"] == sum(bool(one["reason"]) and not one["pool"] for one in records)
    assert figures["promised"] == sum(bool(one["promise"]) for one in records)
    assert figures["kept"] == sum(one["promise"] == "kept" for one in records)
    assert figures["retried"] == sum(one["retries"] > 0 for one in records)
    for name in SUMS:
        assert figures[name] == sum(one[name] for one in records)
    assert figures["usd"] == pytest.approx(sum(one["usd_micro"] / 1e6 for one in records), abs=1e-9)
    for name in ("ttft", "itl", "total", "queue"):
        check_spread(figures[name], times_of(name, records))


def times_of(name: str, records: list[Json]) -> list[float]:
    if name == "total":
        return sorted(one["total_ms"] for one in records if one["ttft_ms"] is not None or not one["reason"])
    return sorted(one[f"{name}_ms"] for one in records if one[f"{name}_ms"] is not None)


def check_spread(spread: Json, times_ms: list[float]) -> None:
    assert spread["count"] == len(times_ms)
    if not times_ms:
        assert spread["mean_ms"] is None is spread["p99_ms"]
        return
    assert spread["mean_ms"] == pytest.approx(sum(times_ms) / len(times_ms))
    for name, share in (("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99), ("p999_ms", 0.999)):
        assert spread[name] == pytest.approx(times_ms[max(1, ceil(share * len(times_ms))) - 1], rel=WITHIN)


def test_history_is_what_the_records_add_up_to_by_every_group(fleet: Example, records: list[Json]) -> None:
    whole = ask(fleet, "/admin/history", **span(records))
    [line] = whole["lines"]
    check(line["whole"], records)
    for group in GROUPS:
        page = ask(fleet, "/admin/history", by=group, **span(records))
        assert {line["group"][group] for line in page["lines"]} == {one[group] for one in records}
        for line in page["lines"]:
            mine = [one for one in records if one[group] == line["group"][group]]
            check(line["whole"], mine)
            for point in line["points"]:
                check(
                    point["figures"], [one for one in mine if point["at"] <= one["at"] < point["at"] + page["step_s"]]
                )


def test_distributions_have_every_request_in_its_bucket(fleet: Example, records: list[Json]) -> None:
    page = ask(fleet, "/admin/latency", by="pool", **span(records))
    for group in page["groups"]:
        mine = [one for one in records if one["pool"] == group["group"]["pool"]]
        check(group["figures"], mine)
        for name in ("ttft", "itl", "total"):
            bars, times = group[name], times_of(name, mine)
            assert sum(bar["count"] for bar in bars) == len(times)
            for bar, reached in zip(bars, accumulate(bar["count"] for bar in bars), strict=True):
                assert sum(one <= bar["up_to_ms"] * (1 + 1e-9) for one in times) == reached


def test_the_live_minute_is_what_ended_in_it(fleet: Example, records: list[Json]) -> None:
    page = ask(fleet, "/admin/now")
    since = page["until_at"] - page["window_s"]
    inside = [one for one in records if since <= int(one["at"] + one["total_ms"] / 1000) < page["until_at"]]
    check(page["whole"], inside)
    for pool in page["pools"]:
        check(pool["last_minute"], [one for one in inside if one["pool"] == pool["pool"]])
    assert page["whole"]["requests_per_s"] == pytest.approx(len(inside) / page["window_s"])


def test_money_and_tenants_are_the_records_of_the_day(fleet: Example, records: list[Json]) -> None:
    by_model = ask(fleet, "/admin/usage", by="model")["rows"]
    dollars = Counter[str]()
    for one in records:
        dollars[one["model"]] += one["usd_micro"]
    assert {row["group"]["model"]: row["usd_micro"] for row in by_model} == dict(dollars)
    page = ask(fleet, "/admin/tenants")
    [tenant] = page["tenants"]
    today = [one for one in records if datetime.fromtimestamp(one["at"], UTC).date().isoformat() == page["day"]]
    assert (tenant["project"], tenant["requests"]) == ("local/local", len(today))
    assert tenant["errors"] == sum(bool(one["reason"]) for one in today)
    assert tenant["usd"] == pytest.approx(sum(one["usd_micro"] / 1e6 for one in today), abs=1e-9)
    assert sum(tenant["refused"].values()) == sum(bool(one["reason"]) and not one["pool"] for one in records)
