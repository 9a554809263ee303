"""What every book store does, asked of SQLite and of a real PostgreSQL."""

import asyncio
import random

import pytest
from msgspec.structs import replace

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.usage import RequestQuery, Uptime, UsageGroup, UsageQuery, UsageRecord, UsageRow
from tests.support.book_stores import Opened, book_stores, postgres_url  # noqa: F401  # fixtures

NOON = 1_793_534_400.0  # 2026-11-01 12:00 UTC
DAY_S = 86400.0


def usage(number: int, **other: object) -> UsageRecord:
    return replace(
        UsageRecord(
            id=f"req_{number:04d}",
            at=NOON + number,
            organisation="acme",
            project="acme/search",
            key="k_1",
            tier="gold",
            urgency="interactive",
            operation="chat",
            model="llama",
            version="v3",
            pool="h100",
            replica="h100-0",
            hardware="h100-sxm",
            status=200,
            prompt_tokens=100,
            cached_tokens=40,
            completion_tokens=7,
            reasoning_tokens=2,
            queue_ms=1.5,
            total_ms=90.25,
            usd_micro=12,
            replica_s=0.25,
        ),
        **other,
    )


async def test_a_record_comes_back_as_it_was_written(opened: Opened) -> None:
    whole = usage(
        1,
        is_estimated=True,
        is_hedged=True,
        retries=2,
        ttft_ms=3.5,
        predicted_itl_ms=0.1,
        reason="stalled",
        promise="kept",
    )
    async with opened() as store:
        assert len((await store.add([whole, usage(2)])).records) == 2
        page = await store.requests(RequestQuery())
    assert page.records == (usage(2), whole)
    assert page.next is None


async def test_the_records_that_were_new_come_back(opened: Opened) -> None:
    async with opened() as store:
        assert list((await store.add([usage(2), usage(1), usage(2)])).records) == [usage(1), usage(2)]
        assert list((await store.add([usage(3), usage(2, completion_tokens=99)])).records) == [usage(3)]
        assert list((await store.add([usage(1)])).records) == []


async def test_an_id_counts_once_however_often_it_is_added(opened: Opened) -> None:
    async with opened() as store:
        assert len((await store.add([usage(1), usage(2), usage(1)])).records) == 2
        assert len((await store.add([usage(2), usage(3)])).records) == 1
        assert len((await store.add([usage(2), usage(3)])).records) == 0
        assert len((await store.add([])).records) == 0
        (row,) = await store.usage(UsageQuery())
    assert row == UsageRow(
        requests=3,
        prompt_tokens=300,
        cached_tokens=120,
        completion_tokens=21,
        reasoning_tokens=6,
        usd_micro=36,
        replica_us=750_000,
    )


async def test_a_large_batch_of_which_some_are_known_adds_the_others(opened: Opened) -> None:
    async with opened() as store:
        assert len((await store.add([usage(number) for number in range(60, 125)])).records) == 65
        assert len((await store.add([usage(number) for number in range(310)])).records) == 245
        (row,) = await store.usage(UsageQuery())
        page = await store.requests(RequestQuery(limit=1000))
    assert (row.requests, row.prompt_tokens) == (310, 31000)
    assert page.records == tuple(usage(number) for number in reversed(range(310)))


async def test_what_a_day_does_not_know_does_not_divide_it(opened: Opened) -> None:
    others = [{"operation": "embeddings"}, {"version": "v4"}, {"replica": "h100-1"}, {"reason": "stalled"}]
    async with opened() as store:
        await store.add([usage(number, **other) for number, other in enumerate([{}, *others])])
        await store.add([usage(9, at=NOON + DAY_S / 2 - 1e-6), usage(10, at=NOON + DAY_S / 2)])
        rows = await store.usage(UsageQuery(by=tuple(UsageGroup)))
    assert [(row.group[UsageGroup.DAY], row.requests, row.errors) for row in rows] == [
        ("2026-11-01", 6, 1),
        ("2026-11-02", 1, 0),
    ]


async def test_records_added_at_the_same_time_count_once(opened: Opened) -> None:
    batches = [[usage(number) for number in range(start, start + 40)] for start in range(0, 100, 10)]
    for batch in batches:
        random.Random(7).shuffle(batch)
    async with opened() as store:
        new = await asyncio.gather(*(store.add(batch) for batch in batches))
        (row,) = await store.usage(UsageQuery())
    assert sum(len(one.records) for one in new) == row.requests == 130
    assert row.completion_tokens == 130 * 7


@pytest.mark.parametrize("group", list(UsageGroup))
async def test_usage_is_added_up_by_any_group(opened: Opened, group: UsageGroup) -> None:
    field = "urgency" if group is UsageGroup.CLASS else group.value
    changed = {"at": NOON + DAY_S} if group is UsageGroup.DAY else {field: "zebra"}
    async with opened() as store:
        await store.add([usage(1), usage(2, **changed, reason="engine_broke"), usage(3, **changed)])
        first, second = await store.usage(UsageQuery(by=(group,)))
        only = await store.usage(UsageQuery(where=second.group))
    assert (first.requests, first.errors) == (1, 0)
    assert (second.requests, second.errors) == (2, 1)
    assert second.group == {group: "2026-11-02" if group is UsageGroup.DAY else "zebra"}
    assert [replace(row, group=second.group) for row in only] == [second]


async def test_days_are_a_range_without_its_end(opened: Opened) -> None:
    async with opened() as store:
        await store.add([usage(day, at=NOON + day * DAY_S) for day in range(4)])
        rows = await store.usage(UsageQuery(by=(UsageGroup.DAY,), since="2026-11-02", until="2026-11-04"))
        assert [row.group[UsageGroup.DAY] for row in rows] == ["2026-11-02", "2026-11-03"]
        assert await store.usage(UsageQuery(since="2027-01-01")) == (UsageRow(),)
        assert await store.usage(UsageQuery(by=(UsageGroup.DAY,), since="2027-01-01")) == ()


async def test_values_are_values_whatever_is_in_them(opened: Opened) -> None:
    nasty = "x'; DROP TABLE usage; -- $1 ?1 %s {} \x00"
    async with opened() as store:
        await store.add([usage(1, model=nasty, key=nasty)])
        (row,) = await store.usage(UsageQuery(by=(UsageGroup.MODEL,), where={UsageGroup.KEY: nasty}))
        assert row.requests == 1
        assert len((await store.requests(RequestQuery(where={UsageGroup.MODEL: nasty}))).records) == 1
        with pytest.raises(ValueError, match="not a valid UsageGroup"):
            await store.usage(UsageQuery(by=("day; DROP TABLE usage",)))


async def test_pages_show_every_request_once_the_newest_first(opened: Opened) -> None:
    records = [usage(number, at=NOON + number // 3) for number in range(50)]  # three in each moment
    async with opened() as store:
        await store.add(records)
        seen, after = [], None
        while True:
            page = await store.requests(RequestQuery(limit=7, after=after, where={UsageGroup.PROJECT: "acme/search"}))
            seen += page.records
            after = page.next
            if after is None:
                break
        few = await store.requests(RequestQuery(since_at=NOON + 2, until_at=NOON + 4))
        for wrong in ("", "x", "nan:req", "1.0"):
            with pytest.raises(InvalidField):
                await store.requests(RequestQuery(after=wrong))
        with pytest.raises(InvalidField):
            await store.requests(RequestQuery(limit=0))
    assert seen == sorted(records, key=lambda record: (record.at, record.id), reverse=True)
    assert len(few.records) == 6


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"id": "req_0002"}, [2]),
        ({"id": "req_9999"}, []),
        ({"status": 429}, [3]),
        ({"reason": "queue_full"}, [3]),
        ({"reason": ""}, [4, 2, 0]),
        ({"replica": "h100-1"}, [2]),
        ({"errors_only": True}, [3, 1]),
        ({"ttft_ms_min": 50.0}, [4, 2]),
        ({"ttft_ms_min": 50.1}, [4]),
        ({"total_ms_min": 5000.0}, [4]),
        ({"retried_only": True}, [1]),
        ({"promise": "kept"}, [2, 0]),
        ({"promise": "broken", "errors_only": True}, [1]),
        ({"promise": "'; DROP TABLE usage; --\x00"}, []),
        ({"errors_only": True, "where": {UsageGroup.POOL: "h100"}, "since_at": NOON + 1, "until_at": NOON + 3}, [1]),
    ],
)
async def test_single_requests_are_searched(opened: Opened, asked: dict[str, object], found: list[int]) -> None:
    async with opened() as store:
        await store.add(
            [
                usage(0, promise="kept"),
                usage(1, reason="stalled", status=502, retries=1, promise="broken"),
                usage(2, replica="h100-1", ttft_ms=50.0, promise="kept"),
                usage(3, reason="queue_full", status=429, pool="", replica="", hardware=""),
                usage(4, ttft_ms=400.0, total_ms=9000.0, promise="broken"),
            ]
        )
        page = await store.requests(RequestQuery(**asked))
    assert [record.id for record in page.records] == [f"req_{number:04d}" for number in found]


async def test_refusals_are_counted_by_project_and_reason(opened: Opened) -> None:
    nobody = {"pool": "", "replica": "", "hardware": "", "status": 429}
    async with opened() as store:
        await store.add(
            [
                *(usage(number, reason="queue_full", **nobody) for number in range(3)),
                usage(3, reason="rate_limited", project="acme/chat", **nobody),
                usage(4, reason="stalled"),
                usage(5),
                usage(60, reason="queue_full", **nobody),
            ]
        )
        rows = await store.refusals(NOON, NOON + 60)
    assert [(row.project, row.reason, row.requests) for row in rows] == [
        ("acme/search", "queue_full", 3),
        ("acme/chat", "rate_limited", 1),
    ]


async def test_days_stay_when_their_records_are_forgotten(opened: Opened) -> None:
    async with opened() as store:
        await store.add([usage(number, at=NOON + number * DAY_S) for number in range(10)])
        before = await store.usage(UsageQuery(by=(UsageGroup.DAY, UsageGroup.KEY)))
        assert await store.forget(NOON + 5.5 * DAY_S, 4) == 4
        assert await store.forget(NOON + 5.5 * DAY_S, 4) == 2
        assert await store.forget(NOON + 5.5 * DAY_S, 4) == 0
        assert len((await store.requests(RequestQuery())).records) == 4
        assert await store.usage(UsageQuery(by=(UsageGroup.DAY, UsageGroup.KEY))) == before


async def test_hours_paid_stand_beside_hours_used(opened: Opened) -> None:
    up = Uptime(
        day="2026-11-01", pool="h100", hardware="h100-sxm", source="a", up_us=3_600_000_000, usd_micro=3_000_000
    )
    async with opened() as store:
        await store.add_uptime([replace(up, up_us=5, usd_micro=1), replace(up, source="b")])
        await store.add_uptime([up, replace(up, day="2026-11-05")])
        hosted = {"pool": "hosted", "hardware": "", "is_hosted_price": True, "replica_s": 0.0}
        await store.add([usage(1), usage(2), usage(3, **hosted), usage(4, pool="cpu", hardware="cpu")])
        rows = await store.idle(None, "2026-11-02")
        everything = await store.idle(None, None)
    assert [(row.pool, row.up_us, row.paid_usd_micro, row.busy_us, row.busy_usd_micro, row.tokens) for row in rows] == [
        ("cpu", 0, 0, 250_000, 12, 107),
        ("h100", 7_200_000_000, 6_000_000, 500_000, 24, 214),
    ]
    assert len(everything) == 3
