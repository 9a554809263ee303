"""Requests that wait for leases, with a source that answers, is slow, or is away."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from heterodyne.admission.limits.book import LimitBook
from heterodyne.admission.limits.reservation import PendingReservation, Reservation
from heterodyne.admission.limits.when_unreachable import WhenUnreachable
from heterodyne.domain.errors import LimitReached, StoreUnavailable
from heterodyne.domain.tenant import Level, Limits
from heterodyne.gateway.lease_client import LeaseClient
from heterodyne.ports.leases import LeaseAnswer, LeaseCall
from heterodyne.stores.leases.memory import MemoryLeases

NOW_S = 1_800_014_400.0
LEVELS = (Level(name="key:k", limits=Limits(requests_per_minute=10, concurrent_requests=4)),)
REQUESTS = "key:k requests_per_minute"


class Door(MemoryLeases):
    """A source that can be shut: calls are then applied, and their answers lost."""

    def __init__(self) -> None:
        super().__init__(clock=lambda: NOW_S)
        self.is_shut = False
        self.calls = 0
        self.answers = asyncio.Event()
        self.answers.set()

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        self.calls += 1
        await self.answers.wait()
        answer = self.exchange_now(call)
        if self.is_shut:
            raise StoreUnavailable("The door is shut.")
        return answer


@asynccontextmanager
async def running(
    door: Door, mode: WhenUnreachable = WhenUnreachable.CLOSED
) -> AsyncIterator[tuple[LeaseClient, LimitBook]]:
    book = LimitBook("worker", tick_s=0.02)
    lease_client = LeaseClient(book, door, when_unreachable=mode, tick_s=0.02, clock=lambda: NOW_S)
    task = asyncio.create_task(lease_client.run())
    try:
        yield lease_client, book
    finally:
        task.cancel()
        await asyncio.wait((task,))
        await lease_client.close()


async def test_requests_that_wait_together_share_a_call() -> None:
    door = Door()
    async with running(door) as (lease_client, book):
        door.answers.clear()
        first = asyncio.create_task(lease_client.reserve(LEVELS, 1, 0))
        await _until(lambda: door.calls == 1)
        others = [asyncio.create_task(lease_client.reserve(LEVELS, 1, 0)) for _ in range(5)]
        await asyncio.sleep(0)
        door.answers.set()
        answers = await asyncio.gather(first, *others, return_exceptions=True)
        assert [type(answer) for answer in answers] == [Reservation] * 4 + [LimitReached] * 2
        assert door.calls == 2
        for answer in answers[:4]:
            assert isinstance(answer, Reservation)
            book.settle(answer, 1, 0)
    assert door.used(REQUESTS, int(NOW_S)) == 4


async def test_whoever_leaves_while_waiting_holds_nothing() -> None:
    door = Door()
    async with running(door) as (lease_client, _):
        door.answers.clear()
        asking = asyncio.create_task(lease_client.reserve(LEVELS, 1, 0))
        await _until(lambda: door.calls == 1)
        asking.cancel()
        await asyncio.wait((asking,))
        door.answers.set()
    assert door.used(REQUESTS, int(NOW_S)) == 0
    assert door.used("key:k concurrent_requests", 0) == 0


async def test_nobody_passes_or_waits_while_the_source_is_away_and_limits_fail_closed() -> None:
    door = Door()
    async with running(door) as (lease_client, book):
        door.is_shut = True
        with pytest.raises(StoreUnavailable):
            await lease_client.reserve(LEVELS, 1, 0)
        heard: list[object] = []
        pending_reservation = lease_client.try_reserve(LEVELS, 1, 0)
        assert isinstance(pending_reservation, PendingReservation)
        lease_client.wait(pending_reservation, heard.append)
        assert isinstance(heard[0], StoreUnavailable), "told at once, without a call"
        door.is_shut = False
        await _until(lambda: lease_client.away is None)
        reserved = await lease_client.reserve(LEVELS, 1, 0)
        book.settle(reserved, 1, 0)
    assert door.used(REQUESTS, int(NOW_S)) == 1, "the lost answer was heard in the end, and its lease given back"


async def test_a_bounded_part_passes_and_is_reported_when_limits_fail_open() -> None:
    door = Door()
    async with running(door, WhenUnreachable.OPEN) as (lease_client, book):
        door.is_shut = True
        for _ in range(30):
            try:
                book.settle(await lease_client.reserve(LEVELS, 1, 0), 1, 0)
            except LimitReached as error:
                assert "cannot be reached" in error.message  # noqa: PT017  # the others passed
        assert lease_client.alone_total == 10
        door.is_shut = False
        await _until(lambda: lease_client.away is None)
    assert door.used(REQUESTS, int(NOW_S)) == 10


async def test_a_worker_that_leaves_gives_back_all_that_it_leased() -> None:
    door = Door()
    async with running(door) as (lease_client, book):
        held = [await lease_client.reserve(LEVELS, 1, 0) for _ in range(3)]
        for each in held:
            book.release(each)
    assert door.used(REQUESTS, int(NOW_S)) == 0
    assert door.used("key:k concurrent_requests", 0) == 0


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)
