"""Blocks of records: each taken once by its place or its id, searched and forgotten like rows."""

import asyncio
import random

import pytest

from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import RequestQuery, UsageGroup, UsageQuery, UsageRecord
from heterodyne.stores.sql.books.blocks import HEADS_AT_ONCE, RECORDS_AT_ONCE
from tests.support.book_stores import Opened, book_stores, postgres_url  # noqa: F401  # fixtures
from tests.support.usage_records import record

NOON = 1_793_534_400.0
DAY_S = 86400.0


def place(start: int, end: int, **other: object) -> SpoolPlace:
    return SpoolPlace(segment="worker-0.18a.00000001", start=start, end=end, **other)


def life(number: int, prefix: str = "1f2e", **other: object) -> UsageRecord:
    """A record whose id is like those of workers."""
    return record(number, id=f"req_{prefix}{number:08x}", **other)


def ids(records: object) -> list[str]:
    return [one.id for one in records]


async def requests_in(store: object) -> int:
    (row,) = await store.usage(UsageQuery())
    return row.requests


async def test_what_was_read_before_is_known_by_its_place(opened: Opened) -> None:
    async with opened() as store:
        assert len((await store.add([life(1), life(2)], place(0, 100))).records) == 2
        assert not (await store.add([life(1), life(2)], place(0, 100))).records
        assert not (await store.add([life(2)], place(50, 100))).records
        assert len((await store.add([life(3)], place(100, 150))).records) == 1
        assert await requests_in(store) == 3
    async with opened() as store:
        assert not (await store.add([life(3)], place(100, 150))).records
        assert await requests_in(store) == 3


async def test_what_is_read_in_other_pieces_is_known_by_its_ids(opened: Opened) -> None:
    async with opened() as store:
        await store.add([life(1), life(2)], place(0, 100))
        assert ids((await store.add([life(1), life(2), life(3)], place(0, 150))).records) == ids([life(3)])
        assert not (await store.add([life(1), life(2), life(3)], place(0, 150))).records
        assert await requests_in(store) == 3


async def test_a_segment_that_may_repeat_others_is_compared_by_ids_however_often_it_comes(opened: Opened) -> None:
    again = SpoolPlace(segment="worker-0.18a.recovered", start=0, end=80, may_repeat=True)
    async with opened() as store:
        await store.add([life(number) for number in range(10)], place(0, 100))
        assert ids((await store.add([life(10), life(4)], again)).records) == ids([life(10)])
        assert ids((await store.add([life(11), life(4), life(10)], again)).records) == ids([life(11)])
        assert await requests_in(store) == 12


async def test_two_gateways_that_read_one_segment_take_it_once(opened: Opened) -> None:
    many = [life(number) for number in range(300)]
    async with opened() as store, opened() as other:
        places = [place(start, start + 30) for start in range(0, 300, 30)]
        taken = await asyncio.gather(
            *(one.add(many[at.start : at.end], at) for at in places for one in (store, other)),
        )
        assert sum(len(one.records) for one in taken) == await requests_in(store) == 300
        assert len((await store.requests(RequestQuery(limit=500))).records) == 300


async def test_segments_that_are_forgotten_are_the_old_ones(opened: Opened) -> None:
    async with opened() as store:
        await store.add([life(1)], place(0, 100))
        await store.forget_segments(NOON)
        assert not (await store.add([life(1)], place(0, 100))).records
        await store.forget_segments(NOON + DAY_S)
        assert len((await store.add([life(1)], place(0, 100))).records) == 1, "nothing is known of it any more"


async def test_pages_go_through_blocks_whose_times_overlap(opened: Opened) -> None:
    chance = random.Random(3)
    records = [
        life(number, at=NOON + chance.choice([number, number, number - 500]), project=f"acme/{chance.randrange(5)}")
        for number in range(900)
    ]
    async with opened() as store:
        for start in range(0, 900, 30):
            await store.add(records[start : start + 30], place(start, start + 30))
        for where in ({}, {UsageGroup.PROJECT: "acme/3"}, {UsageGroup.PROJECT: "acme/9"}):
            seen, after = [], None
            while True:
                page = await store.requests(RequestQuery(limit=37, after=after, where=where))
                seen += page.records
                if page.next is None:
                    break
                after = page.next
            wanted = [one for one in records if not where or one.project == where[UsageGroup.PROJECT]]
            assert seen == sorted(wanted, key=lambda one: (one.at, one.id), reverse=True)


async def test_more_blocks_than_are_looked_at_in_one_go_are_searched(opened: Opened) -> None:
    count = HEADS_AT_ONCE + 40
    async with opened() as store:
        for number in range(count):
            await store.add([life(number, reason="stalled" if number < 2 else "")], place(number, number + 1))
        page = await store.requests(RequestQuery(errors_only=True))
        assert ids(page.records) == ids([life(1), life(0)])
        assert len((await store.requests(RequestQuery(limit=1000))).records) == count
        assert await store.forget(NOON + count - 3, 5000) == count - 3
        assert ids((await store.requests(RequestQuery())).records) == ids([life(count - 1 - n) for n in range(3)])


async def test_more_records_than_are_held_at_once_are_searched(opened: Opened) -> None:
    async with opened() as store:
        for part in range(3):
            await store.add(
                [life(number, at=NOON + part) for number in range(part * 5000, part * 5000 + 5000)],
                place(part, part + 1),
            )
        assert RECORDS_AT_ONCE < 3 * 5000
        page = await store.requests(RequestQuery(where={UsageGroup.DAY: "2026-11-01"}, limit=4000))
        assert {one.at for one in page.records} == {NOON + 2}
        assert not (await store.requests(RequestQuery(where={UsageGroup.DAY: "2026-11-02"}))).records


async def test_a_request_is_found_by_its_id_among_those_of_other_lives(opened: Opened) -> None:
    async with opened() as store:
        for number, prefix in enumerate(["aaaa", "bbbb", "cccc"]):
            at = SpoolPlace(segment=f"w.{number}.00000001", start=0, end=1)
            await store.add([life(one, prefix) for one in (5, 0x1_0000_0001, 77, 1000)], at)
        for number in (5, 77, 0x1_0000_0001):
            wanted = life(number, "bbbb")
            assert (await store.requests(RequestQuery(id=wanted.id))).records == (wanted,)
        assert not (await store.requests(RequestQuery(id=life(78, "bbbb").id))).records
        assert not (await store.requests(RequestQuery(id="x"))).records
        assert not (await store.requests(RequestQuery(id=life(5, "bbbb").id, errors_only=True))).records


@pytest.mark.parametrize("most", [1, 7, 1000])
async def test_a_block_of_old_and_new_records_is_forgotten_in_part(opened: Opened, most: int) -> None:
    records = [life(number, at=NOON + number, project=f"acme/{number % 3}") for number in range(20)]
    async with opened() as store:
        await store.add(records, place(0, 1))
        forgotten = 0
        while gone := await store.forget(NOON + 12, most):
            assert gone <= most
            forgotten += gone
        assert forgotten == 12
        left = [one for one in reversed(records) if one.at >= NOON + 12]
        assert list((await store.requests(RequestQuery())).records) == left
        page = await store.requests(RequestQuery(where={UsageGroup.PROJECT: "acme/1"}))
        assert list(page.records) == [one for one in left if one.project == "acme/1"]
        assert (await store.requests(RequestQuery(id=left[0].id))).records == (left[0],)
        assert not (await store.add(left)).records
        assert await requests_in(store) == 20
