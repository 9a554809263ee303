"""Reports of the fleet in a real Redis: what one worker leaves the others find, and nobody waits for a store that is
away."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from heterodyne.domain.errors import SettingsInvalid, StoreUnavailable
from heterodyne.ports.fleet_reports import ReportAnswer, ReportCall
from heterodyne.stores.redis import reports as redis_reports
from heterodyne.stores.redis.reports import RedisReports
from tests.support.redis_server import RedisServer

DEADLINE_S = 10.0


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer(keeps=False) as server:
        yield server


@asynccontextmanager
async def store(redis: RedisServer, prefix: str) -> AsyncIterator[RedisReports]:
    opened = RedisReports(redis.url, timeout_s=5.0, prefix=f"{{{prefix}}}:")
    try:
        yield opened
    finally:
        await opened.close()


def call(sender: str, version: int = 1, body: bytes = b"report", **more: object) -> ReportCall:
    fields = {"gateway": sender, "known": {}, "sender": sender, "version": version, "body": body, **more}
    return ReportCall(**fields)  # type: ignore[arg-type]


def found(answer: ReportAnswer) -> dict[str, tuple[int, bytes | None]]:
    return {entry.sender: (entry.version, entry.body) for entry in answer.entries}


async def test_each_reads_what_the_others_left_and_not_its_own(redis: RedisServer) -> None:
    async with store(redis, "each") as one:
        assert found(await one.exchange(call("a", 1, b"A"))) == {}
        assert found(await one.exchange(call("b", 7, b"B"))) == {"a": (1, b"A")}
        assert found(await one.exchange(call("a", 2, b"AA"))) == {"b": (7, b"B")}
        assert found(await one.exchange(call("c", 1, b"C"))) == {"a": (2, b"AA"), "b": (7, b"B")}


async def test_a_body_that_is_known_is_not_sent_again(redis: RedisServer) -> None:
    async with store(redis, "known") as one:
        await one.exchange(call("a", 3, b"A"))
        assert found(await one.exchange(call("b", known={"a": 3}))) == {"a": (3, None)}
        assert found(await one.exchange(call("b", known={"a": 2}))) == {"a": (3, b"A")}


async def test_ages_are_by_the_clock_of_the_store(redis: RedisServer) -> None:
    async with store(redis, "ages") as one:
        await one.exchange(call("a"))
        await asyncio.sleep(0.3)
        [entry] = (await one.exchange(call("b"))).entries
        assert 0.25 <= entry.age_s < DEADLINE_S


async def test_a_worker_that_leaves_is_gone_at_once_and_one_that_dies_soon(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_reports, "TTL_S", 0.3)
    async with store(redis, "leaves") as one:
        await one.exchange(call("a"))
        await one.exchange(call("b"))
        await one.leave("a")
        assert set(found(await one.exchange(call("c")))) == {"b"}
        await asyncio.sleep(0.5)
        assert set(found(await one.exchange(call("d")))) == set()


async def test_gossip_reaches_each_other_gateway_once_and_in_order(redis: RedisServer) -> None:
    async with store(redis, "gossip") as one:
        first = await one.exchange(call("b"))
        await one.exchange(call("a", gossip=[b"1", b"2"]))
        await one.exchange(call("a", gossip=[b"3"]))
        heard = await one.exchange(call("b", gossip_after=first.gossip_to))
        assert list(heard.gossip) == [b"1", b"2", b"3"]
        again = await one.exchange(call("b", gossip_after=heard.gossip_to))
        assert list(again.gossip) == []
        neighbour = await one.exchange(call("a-2", gateway="a"))
        assert list(neighbour.gossip) == [], "workers of one gateway tell each other"
        assert list((await one.exchange(call("late"))).gossip) == [b"1", b"2", b"3"], "of the last minute"


async def test_what_is_too_large_is_not_passed_on(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_reports, "BODY_BYTES_MAX", 10)
    monkeypatch.setattr(redis_reports, "ANSWER_BYTES_MAX", 15)
    async with store(redis, "large") as one:
        await one.exchange(call("a", body=b"x" * 11))
        await one.exchange(call("b", body=b"x" * 10))
        await one.exchange(call("c", body=b"x" * 10))
        bodies = [body for _, body in found(await one.exchange(call("d"))).values()]
        assert sorted(body is None for body in bodies) == [False, True, True], "one is too large, one has no room"


async def test_a_store_that_is_away_or_stuck_is_named_in_time() -> None:
    away = RedisReports("unix:///nowhere/redis.sock", timeout_s=0.2)
    with pytest.raises(StoreUnavailable):
        await away.exchange(call("a"))

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(never, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    stuck = RedisReports(f"redis://:secret@127.0.0.1:{port}", timeout_s=0.2)
    began_s = time.monotonic()
    with pytest.raises(StoreUnavailable) as failure:
        await stuck.exchange(call("a"))
    assert time.monotonic() - began_s < DEADLINE_S
    assert "secret" not in failure.value.message
    await stuck.close()
    server.close()


async def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(SettingsInvalid, match=r"stores\.fleet_url"):
        RedisReports("http://host")
