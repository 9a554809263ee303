"""One page for everybody who listens, and nobody waits for anybody."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import msgspec
import pytest

from heterodyne.console.errors import TooManyOpen
from heterodyne.console.event_stream import HEARTBEAT, EventStream
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.pages import LivePage
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.domain.usage_tally import UsageTally
from tests.support.admin_fleets import ScriptedFleet
from tests.support.consoles import live_service
from tests.support.usage_records import record

INTERVAL_S = 0.01
WITHIN_S = 10.0


@asynccontextmanager
async def running(feed: LiveFeed) -> AsyncIterator[LiveFeed]:
    task = asyncio.create_task(feed.run())
    try:
        async with asyncio.timeout(WITHIN_S):
            yield feed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def feed(**other: int) -> LiveFeed:
    return LiveFeed(live_service(), interval_s=INTERVAL_S, **other)


async def events(pieces: AsyncGenerator[bytes, None], count: int) -> list[bytes]:
    found: list[bytes] = []
    async for piece in pieces:
        if piece != HEARTBEAT:
            found.append(piece)
        if len(found) == count:
            return found
    return found


def page_in(event: bytes) -> LivePage:
    name, identity, data, *_ = event.decode().split("\n")
    assert (name, identity.partition(":")[0]) == ("event: now", "id")
    return msgspec.json.decode(data.removeprefix("data: "), type=LivePage)


def always() -> bool:
    return True


async def test_two_listeners_get_the_same_bytes() -> None:
    async with running(feed()) as one:
        first, second = await asyncio.gather(events(one.listen(always), 5), events(one.listen(always), 5))
    assert set(first) & set(second)
    assert {id(piece) for piece in first} & {id(piece) for piece in second}  # encoded once
    assert page_in(first[0]).version == 1


async def test_a_slow_listener_holds_nobody_and_finds_the_newest() -> None:
    async with running(feed()) as one, aclosing(one.listen(always)) as slow, aclosing(one.listen(always)) as quick:
        [early] = await events(slow, 1)
        told = await events(quick, 20)
        [late] = await events(slow, 1)

    def number(event: bytes) -> int:
        return int(event.split(b"id: ")[1].split(b"\n")[0])

    assert number(late) >= number(told[-1]) > number(early) + 10


async def test_nothing_is_made_while_nobody_listens() -> None:
    pages = 0

    def counted() -> FleetPage:
        nonlocal pages
        pages += 1
        return ScriptedFleet().page()

    one = LiveFeed(live_service(fleet=counted), interval_s=INTERVAL_S)
    async with running(one):
        async with aclosing(one.listen(always)) as listener:
            await events(listener, 2)
        assert one.listeners == 0
        await until(lambda: not one._wanted.is_set())
        before = pages
        await asyncio.sleep(5 * INTERVAL_S)
        assert pages == before
        async with aclosing(one.listen(always)) as listener:
            assert await events(listener, 1)


async def test_each_event_has_the_requests_since_the_one_before() -> None:
    recent_activity = RecentActivity()
    recent_activity.on_added(UsageTally([record(1)]))
    one = LiveFeed(live_service(recent_activity), interval_s=INTERVAL_S)
    async with running(one), aclosing(one.listen(always)) as listener:
        [first] = await events(listener, 1)
        recent_activity.on_added(UsageTally([record(2), record(3)]))
        following = [page_in(event) for event in await events(listener, 10)]
    assert page_in(first).requests == ()  # it was there before anybody listened
    assert [line.id for page in following for line in page.requests] == ["req_0003", "req_0002"]


async def test_of_too_many_listeners_the_last_is_refused() -> None:
    async with running(feed(listeners_max=2)) as one:
        async with aclosing(one.listen(always)) as first, aclosing(one.listen(always)) as second:
            await events(first, 1)
            await events(second, 1)
            with pytest.raises(TooManyOpen, match="2 consoles are open"):
                one.listen(always)
        assert await events(one.listen(always), 1)


async def test_a_listener_who_is_not_welcome_any_more_hears_nothing() -> None:
    welcome = True
    async with running(feed()) as one, aclosing(one.listen(lambda: welcome)) as listener:
        await events(listener, 2)
        welcome = False
        assert len(await events(listener, 100)) <= 1


async def test_closing_ends_every_listener() -> None:
    async with running(feed()) as one:
        listening = asyncio.create_task(events(one.listen(always), 10**9))
        await until(lambda: one.listeners == 1)
        one.close()
        await listening
        with pytest.raises(TooManyOpen):
            one.listen(always)


async def test_a_page_that_cannot_be_made_does_not_end_the_feed() -> None:
    failures = 3

    def flaky() -> FleetPage:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise RuntimeError("our mistake")
        return ScriptedFleet().page()

    async with running(LiveFeed(live_service(fleet=flaky), interval_s=INTERVAL_S)) as one:
        assert len(await events(one.listen(always), 2)) == 2


async def test_a_reader_who_leaves_frees_its_place() -> None:
    async with running(feed()) as one:
        left = asyncio.Event()

        async def receive() -> dict[str, object]:
            await left.wait()
            return {"type": "http.disconnect"}

        sent: list[object] = []

        async def send(message: object) -> None:
            sent.append(message)

        stream = EventStream(one.listen(always))
        answering = asyncio.create_task(stream({"type": "http", "method": "GET"}, receive, send))  # type: ignore[arg-type]
        await until(lambda: len(sent) > 3)
        assert one.listeners == 1
        left.set()
        await answering
        assert one.listeners == 0


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not is_so():
            await asyncio.sleep(INTERVAL_S)
