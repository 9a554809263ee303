"""What a worker holds of a response's events, and what it lets go."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from heterodyne.gateway.stored import event_log
from heterodyne.gateway.stored.event_log import EventLog, SomeEvents

END = b'{"type":"response.completed","sequence_number":9,"response":{}}'


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "HELD_BYTES_MAX", 100)
    monkeypatch.setattr(event_log, "EVENTS_BYTES_MAX", 1000)


def delta(number: int) -> bytes:
    return b'{"type":"response.output_text.delta","sequence_number":%d}' % number


def log_of(events: int) -> EventLog:
    log = EventLog()
    for number in range(events):
        log.add(delta(number))
    return log


async def nothing_older(place: int) -> SomeEvents | None:
    return None


async def all_of(source: AsyncIterator[SomeEvents]) -> list[tuple[int, bytes]]:
    """Each with its number."""
    async with asyncio.timeout(5):
        return [(first + place, one) async for first, some in source for place, one in enumerate(some)]


def test_what_the_store_has_goes_and_what_it_has_not_stays() -> None:
    log = log_of(10)
    log.trim(0)
    assert (log.first, log.end) == (0, 10)
    log.trim(5)
    assert (log.first, log.end, log.some(5, 7)) == (5, 10, [delta(5), delta(6)])
    log.trim(10)
    assert (log.first, log.end, log.last) == (9, 10, delta(9)), "the latest are held for who follows closely"


def test_where_the_store_is_away_for_long_the_oldest_go_all_the_same() -> None:
    log = log_of(100)
    log.trim(0)
    held = sum(map(len, log.some(log.first, log.end)))
    assert 1000 < held <= 1100
    assert log.end == 100


def test_from_so_many_bytes_on_events_are_too_many_to_be_kept() -> None:
    log = log_of(10)
    assert log.kept_end is None
    for number in range(10, 40):
        log.add(delta(number))
    assert log.kept_end is not None
    kept = sum(len(delta(number)) for number in range(log.kept_end))
    assert kept <= 1000 < kept + len(delta(log.kept_end))


async def test_who_falls_behind_is_told_by_the_store_and_then_here() -> None:
    log = log_of(9)
    log.add(END)
    log.trim(6)
    asked = []

    async def older(place: int) -> SomeEvents | None:
        asked.append(place)
        return SomeEvents(place, [delta(number) for number in range(place, place + 3)])

    told = await all_of(log.follow(1, 0.01, older))
    assert told == [(number, delta(number)) for number in range(2, 9)] + [(9, END)]
    assert asked == [2, 5]


async def test_what_nobody_has_is_left_out_and_numbers_say_so() -> None:
    log = log_of(9)
    log.add(END)
    log.trim(6)
    told = await all_of(log.follow(-1, 0.01, nothing_older))
    assert [number for number, _ in told] == [6, 7, 8, 9]


async def test_a_follower_is_told_as_they_come_and_that_none_has_come() -> None:
    log = log_of(1)
    source = log.follow(-1, 0.01, nothing_older)
    assert await anext(source) == (0, [delta(0)])
    assert await anext(source) == (1, [])
    log.add(END)
    assert [one async for one in source] == [(1, [END])]
