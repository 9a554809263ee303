"""What every store knows of minutes, asked of SQLite and of a real PostgreSQL."""

import asyncio
import random

import pytest

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.history import History, HistoryGroup, HistoryQuery, Sums
from heterodyne.domain.minutes import LABEL_SETS_MAX, OTHER, merged_sums
from heterodyne.domain.usage import RequestQuery, UsageRecord
from heterodyne.ports.books import BookStore
from heterodyne.stores.sql.books import minutes
from tests.support.book_stores import Opened, book_stores, postgres_url  # noqa: F401  # fixtures
from tests.support.history_checks import check_history
from tests.support.plain_sums import sums_of
from tests.support.usage_records import record

NOON = 1_793_534_400  # 2026-11-01 12:00 UTC
HOUR_S = 3600
KEEP_ALL = 1_000_000


def at(number: int, moment: float, **other: object) -> UsageRecord:
    return record(number, at=moment, ttft_ms=float(number + 1), **other)


async def whole(store: BookStore, **asked: object) -> Sums:
    asked = {"since_at": NOON - HOUR_S, "until_at": NOON + HOUR_S, "step_s": HOUR_S} | asked
    history = await store.history(HistoryQuery(**asked))
    return merged_sums(step.sums for series in history.series for step in series.steps)


@pytest.mark.parametrize("seed", range(4))
async def test_sums_are_those_of_the_records(opened: Opened, seed: int) -> None:
    chance = random.Random(seed)
    records = [random_record(chance, number) for number in range(400)]
    async with opened() as store:
        rest = records[:]
        while rest:
            some, rest = rest[:70], rest[70:]
            await store.add(some + chance.sample(records[: len(records) - len(rest)], 5))
    async with opened() as again:
        for by in ((), (HistoryGroup.POOL,), tuple(HistoryGroup)):
            for step_s in (60, 300, 7200):
                query = HistoryQuery(since_at=NOON - 90.5, until_at=NOON + 1000.5, step_s=step_s, by=by)
                check_history(await again.history(query), query, records)
        query = HistoryQuery(
            since_at=NOON, until_at=NOON + 900, where={HistoryGroup.MODEL: "a", HistoryGroup.TIER: "t"}
        )
        check_history(await again.history(query), query, records)


async def test_repeated_records_count_once(opened: Opened) -> None:
    records = [at(number, NOON + number) for number in range(50)]
    async with opened() as store:
        await store.add(records[:30])
        await store.add(records)
        await store.add(records)
        assert await whole(store) == sums_of(records)


async def test_a_late_record_is_added_to_its_minute(opened: Opened) -> None:
    early, later, late = at(1, NOON + 1.0), at(2, NOON + 300.0), at(3, NOON + 59.5)
    async with opened() as store:
        for one in (early, later, late):
            await store.add([one])
        (series,) = (await store.history(HistoryQuery(since_at=NOON, until_at=NOON + 600))).series
    assert [(step.at, step.sums.requests) for step in series.steps] == [(NOON, 2), (NOON + 300, 1)]
    assert series.steps[0].sums == sums_of([early, late])


async def test_several_supervisors_add_to_one_minute(opened: Opened) -> None:
    records = [at(number, NOON + number / 10) for number in range(60)]
    for start in range(0, 60, 20):
        async with opened() as store:
            await store.add(records[start : start + 20])
    async with opened() as store:
        assert await whole(store) == sums_of(records)


async def test_batches_added_at_the_same_time_are_all_in_their_minute(opened: Opened) -> None:
    batches = [[at(number, NOON + 0.5) for number in range(start, start + 40)] for start in range(0, 100, 10)]
    async with opened() as store, opened() as other:
        await asyncio.gather(*((store, other)[number % 2].add(batch) for number, batch in enumerate(batches)))
        found = await whole(store)
    assert found == sums_of(at(number, NOON) for number in range(130))


async def test_steps_begin_at_multiples_of_their_length(opened: Opened) -> None:
    async with opened() as store:
        await store.add([at(number, NOON + number * 60.0) for number in range(12)])
        query = HistoryQuery(since_at=NOON + 130.0, until_at=NOON + 500.0, step_s=300)
        found = await store.history(query)
    assert (found.since_at, found.until_at, found.step_s) == (NOON + 120, NOON + 540, 300)
    assert [(step.at, step.sums.requests) for step in found.series[0].steps] == [(NOON, 3), (NOON + 300, 4)]


async def test_series_are_sorted_and_named(opened: Opened) -> None:
    async with opened() as store:
        await store.add([at(1, NOON, pool="b"), at(2, NOON, pool="a"), at(3, NOON, pool="a", urgency="batch")])
        found = await store.history(
            HistoryQuery(since_at=NOON, until_at=NOON + 60, by=(HistoryGroup.POOL, HistoryGroup.CLASS))
        )
        nothing = await store.history(HistoryQuery(since_at=0, until_at=60))
    assert [series.group for series in found.series] == [
        {HistoryGroup.POOL: "a", HistoryGroup.CLASS: "batch"},
        {HistoryGroup.POOL: "a", HistoryGroup.CLASS: "interactive"},
        {HistoryGroup.POOL: "b", HistoryGroup.CLASS: "interactive"},
    ]
    assert nothing == History(since_at=0, until_at=60, step_s=60, series=())


async def test_values_are_values_whatever_is_in_them(opened: Opened) -> None:
    nasty = "x'; DROP TABLE usage_minute; -- $1 ?1 %s {} \x00"
    async with opened() as store:
        await store.add([at(1, NOON, model=nasty), at(2, NOON, model=nasty.replace("\x00", "\ufffd"))])
        assert (await whole(store, where={HistoryGroup.MODEL: nasty})).requests == 2
        with pytest.raises(ValueError, match="not a valid HistoryGroup"):
            await store.history(HistoryQuery(since_at=0, until_at=60, by=("minute; DROP TABLE usage",)))


async def test_a_minute_has_a_bounded_number_of_rows(opened: Opened) -> None:
    records = [at(number, NOON, model=f"m{number:04d}") for number in range(LABEL_SETS_MAX + 120)]
    async with opened() as store:
        await store.add(records[:150])
        await store.add(records[150:])
        found = await store.history(HistoryQuery(since_at=NOON, until_at=NOON + 60, by=tuple(HistoryGroup)))
        assert await whole(store) == sums_of(records)
    assert len(found.series) == LABEL_SETS_MAX
    (others,) = [series for series in found.series if series.group[HistoryGroup.MODEL] == OTHER]
    assert set(others.group.values()) == {OTHER}
    assert others.steps[0].sums.requests == 121


async def test_more_points_than_anybody_can_read_are_refused(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "POINTS_MAX", 3)
    async with opened() as store:
        await store.add([at(number, NOON + number * 60.0) for number in range(4)])
        with pytest.raises(InvalidField, match="longer steps"):
            await store.history(HistoryQuery(since_at=NOON, until_at=NOON + 600))
        assert (await whole(store)).requests == 4


async def test_counts_larger_than_an_entry_holds_take_several(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "_COUNT_MAX", 3)
    records = [record(number, at=NOON + 1.0, ttft_ms=5.0) for number in range(10)]
    async with opened() as store:
        await store.add(records[:6])
        await store.add(records[6:])
        assert await whole(store) == sums_of(records)


async def test_a_span_without_end_is_read_as_far_as_there_is_anything(opened: Opened) -> None:
    async with opened() as store:
        await store.add([at(1, NOON), at(2, NOON + 5 * HOUR_S)])
        found = await whole(store, since_at=0.0, until_at=9e10, step_s=10**11 // 60 * 60)
        assert await whole(store, since_at=0.0, until_at=60.0, step_s=60) == Sums()
    assert found.requests == sum(found.ttft.counts.values()) == 2


async def test_minutes_before_a_time_are_forgotten_a_few_at_once(opened: Opened) -> None:
    async with opened() as store:
        await store.add([at(number, NOON + number * 60.0) for number in range(10)])
        assert await store.forget_minutes(NOON + 330.0, 3, KEEP_ALL) == 3
        assert await store.forget_minutes(NOON + 330.0, 3, KEEP_ALL) == 2
        assert await store.forget_minutes(NOON + 330.0, 3, KEEP_ALL) == 0
        (series,) = (await store.history(HistoryQuery(since_at=NOON, until_at=NOON + 600))).series
        assert len((await store.requests(RequestQuery())).records) == 10, "records have a time of their own"
    assert [step.at for step in series.steps] == [NOON + number * 60 for number in range(5, 10)]


async def test_the_oldest_minutes_go_when_there_are_too_many_rows(opened: Opened) -> None:
    async with opened() as store:
        await store.add([at(number, NOON + number // 2 * 60.0, pool=f"p{number % 2}") for number in range(20)])
        assert await store.forget_minutes(0.0, 1000, 7) == 14, "whole minutes"
        assert await store.forget_minutes(0.0, 1000, 7) == 0
        assert (await whole(store)).requests == 6


def random_record(chance: random.Random, number: int) -> UsageRecord:
    """Anything that may be in a record, in minutes around noon."""

    def ms(share: float = 0.8) -> float | None:
        return chance.lognormvariate(3, 2) if chance.random() < share else None

    return record(
        number,
        at=NOON + chance.uniform(-200, 1200),
        model=chance.choice("ab"),
        pool=chance.choice(("h100", "cpu", "")),
        hardware=chance.choice(("x", "")),
        tier=chance.choice("tu"),
        urgency=chance.choice(("interactive", "batch")),
        reason=chance.choice(("", "", "stalled")),
        completion_tokens=chance.randrange(500),
        prompt_tokens=chance.randrange(5000),
        cached_tokens=chance.randrange(500),
        queue_ms=ms(0.3),
        ttft_ms=ms(),
        itl_ms=ms(),
        total_ms=chance.lognormvariate(6, 2),
        predicted_ttft_ms=ms(),
        predicted_itl_ms=ms(),
        usd_micro=chance.randrange(10**9),
        retries=chance.choice((0, 0, 0, 2)),
        is_hedged=chance.random() < 0.1,
        replica_s=chance.random() * 100,
        promise=chance.choice(("", "kept", "broken")),
    )
