"""From the disk into the store."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodyne.books.collector import Collector
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.segment import segments
from heterodyne.books.spool import UsageSpool
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.history import HistoryQuery
from heterodyne.domain.usage import RequestQuery, UsageQuery
from tests.support.flight_slots import open_slot
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import ending, opening, record

DAY_S = 86400.0
AGES_DAYS = (0.5, 1.5, 9.5, 14.5)


def spooled(folder: Path, *numbers: int, life: str = "1", **other: int) -> tuple[UsageSpool, FlightSlots]:
    """Each in a batch of its own."""
    slots = FlightSlots(folder / f"w.{life}.slots", 8)
    spool = UsageSpool(folder, "w", life, slots, **other)
    for number in numbers:
        spool.finish(open_slot(slots, opening(number)), ending())
        spool.flush()
    return spool, slots


async def ids(store: InlineBooks) -> list[str]:
    return sorted(one.id for one in (await store.requests(RequestQuery())).records)


async def test_current_segments_are_collected_and_complete_ones_deleted(tmp_path: Path) -> None:
    store, (spool, slots) = InlineBooks(), spooled(tmp_path, 1, 2)
    collector = Collector(tmp_path, store)
    await collector.collect()
    assert await ids(store) == ["req_0001", "req_0002"]
    assert [path.suffix for path in segments(tmp_path)] == [".open"]
    spool.finish(open_slot(slots, opening(3)), ending())
    spool.close()
    await collector.collect()
    assert await ids(store) == ["req_0001", "req_0002", "req_0003"]
    assert (collector.state.collected, collector.state.repeated) == (3, 0), "it knew how far it was"
    assert list(tmp_path.iterdir()) == []
    store.close()


async def test_a_store_that_is_away_leaves_everything_on_the_disk(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1, 2, 3, segment_bytes_max=1)
    spool.close()
    collector = Collector(tmp_path, store)
    store.moods = ["", "before"]
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert len(segments(tmp_path)) == 2
    store.moods = ["after"]
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert collector.state.backlog_bytes > 0
    await collector.collect()
    assert await ids(store) == ["req_0001", "req_0002", "req_0003"]
    (row,) = await store.usage(UsageQuery())
    assert row.completion_tokens == 21
    assert (collector.state.repeated, collector.state.backlog_bytes) == (1, 0)
    store.close()


async def test_the_batches_of_a_segment_are_added_together(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1, 2, 3)
    spool.close()
    collector = Collector(tmp_path, store)
    store.moods = ["after", "", "not asked"]
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert collector.state.collected == 0
    await collector.collect()
    assert store.moods == ["not asked"]
    assert (collector.state.collected, collector.state.repeated) == (0, 3)
    assert await ids(store) == ["req_0001", "req_0002", "req_0003"]
    store.close()


async def test_a_collector_that_begins_again_counts_nothing_twice(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1, 2)
    await Collector(tmp_path, store).collect()
    spool.close()
    second = Collector(tmp_path, store)
    await second.collect()
    assert (second.state.collected, second.state.repeated) == (0, 2)
    (row,) = await store.usage(UsageQuery())
    assert row.requests == 2
    store.close()


async def test_old_lives_come_first_and_dead_workers_are_recovered(tmp_path: Path) -> None:
    store = InlineBooks()
    newer, _ = spooled(tmp_path, 5, life="2")
    _, dead = spooled(tmp_path, 1, life="1")
    open_slot(dead, opening(2)).delivered = 4
    dead.close()
    newer.close()
    store.moods = ["", "", "before"]
    collector = Collector(tmp_path, store)
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert await ids(store) == ["req_0001", "req_0002"]
    assert collector.state.recovered == 1
    await collector.collect()
    assert await ids(store) == ["req_0001", "req_0002", "req_0005"]
    store.close()


async def test_bytes_that_are_no_records_are_kept_and_told(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1)
    spool.close()
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes() + b"\xff" * 40)
    collector = Collector(tmp_path, store)
    await collector.collect()
    assert await ids(store) == ["req_0001"]
    assert collector.state.damaged == 1
    assert [path.suffix for path in tmp_path.iterdir()] == [".damaged"]
    store.close()


async def test_a_spool_near_its_bound_is_loud(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1, 2)
    store.moods = ["before"]
    collector = Collector(tmp_path, store, bytes_max=200)
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert collector.state.is_filling
    spool.close()
    await collector.collect()
    assert not collector.state.is_filling
    store.close()


async def test_it_goes_on_by_itself_when_the_store_is_back_and_forgets_what_is_old(tmp_path: Path) -> None:
    store, (spool, _) = InlineBooks(), spooled(tmp_path, 1)
    await store.add([record(9, at=1000.0)])
    spool.close()
    collector = Collector(tmp_path, store, retention_days=30, wall_clock=lambda: record(1).at, away_interval_s=0.01)
    store.moods = ["before", "before"]
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(collector.run())
        while not collector.state.problem:
            await asyncio.sleep(0.001)
        while await ids(store) != ["req_0001"]:
            await asyncio.sleep(0.001)
        running.cancel()
    assert collector.state.problem is None
    (row,) = await store.usage(UsageQuery())
    assert row.requests == 2, "days outlive their records"
    store.close()


async def test_whoever_listens_is_told_of_records_the_store_took_and_of_none_twice(tmp_path: Path) -> None:
    store, (spool, slots) = InlineBooks(), spooled(tmp_path, 1, 2)
    told: list[list[str]] = []
    collector = Collector(tmp_path, store, on_added=lambda tally: told.append([one.id for one in tally.records]))
    store.moods = ["before"]
    with pytest.raises(StoreUnavailable):
        await collector.collect()
    assert told == []
    await collector.collect()
    await collector.collect()
    assert told == [["req_0001", "req_0002"]]
    spool.finish(open_slot(slots, opening(3)), ending())
    spool.close()
    again = Collector(tmp_path, store, on_added=lambda tally: told.append([one.id for one in tally.records]))
    await again.collect()
    assert told == [["req_0001", "req_0002"], ["req_0003"]]
    store.close()


@pytest.mark.parametrize(
    ("settings", "left"), [({"history_days": 2}, [0.5, 1.5]), ({"history_rows_max": 1}, [0.5]), ({}, [0.5, 1.5, 9.5])]
)
async def test_minutes_are_forgotten_by_age_and_by_number(
    tmp_path: Path, settings: dict[str, int], left: list[float]
) -> None:
    store, now = InlineBooks(), record(1).at
    await store.add([record(number, at=now - age * DAY_S) for number, age in enumerate(AGES_DAYS)])
    await ran_until(
        Collector(tmp_path, store, wall_clock=lambda: now, **settings), lambda: minute_ages(store, now), left
    )
    (row,) = await store.usage(UsageQuery())
    assert row.requests == len(await ids(store)) == 4, "records and days have times of their own"
    store.close()


async def ran_until(collector: Collector, look: Callable[[], object], wanted: object) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(collector.run())
        while await look() != wanted:
            await asyncio.sleep(0.001)
        running.cancel()


async def minute_ages(store: InlineBooks, now: float) -> list[float]:
    """In days, of the minutes that there are; the youngest first."""
    spans = [(age, HistoryQuery(since_at=now - age * DAY_S, until_at=now - age * DAY_S + 1)) for age in AGES_DAYS]
    return [age for age, query in spans if (await store.history(query)).series]
