"""Counters of limits can be read without taking anything, in this process and in Redis."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import NO_WINDOW, LeaseCall, LeaseKeeper, LeaseReport, LimitCounter, Want
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.stores.redis.leases import RedisLeases
from tests.support.redis_server import RedisServer

MINUTE = int(time.time()) // 60 * 60
TOKENS = LimitCounter("project:acme/search tokens_per_minute", MINUTE)
RUNNING = LimitCounter("project:acme/search concurrent_requests", NO_WINDOW)


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@asynccontextmanager
async def _memory(_: RedisServer) -> AsyncIterator[LeaseKeeper]:
    yield MemoryLeases()


@asynccontextmanager
async def _redis(redis: RedisServer) -> AsyncIterator[LeaseKeeper]:
    source = RedisLeases(redis.url, timeout_s=5.0, prefix=f"{uuid4().hex}:")
    yield source
    await source.close()


@pytest.fixture(params=[_memory, _redis], ids=["memory", "redis"])
def open_keeper(request: pytest.FixtureRequest, redis: RedisServer) -> Any:
    return lambda: request.param(redis)


async def test_what_is_lent_counts_as_used_until_it_is_given_back(open_keeper: Any) -> None:
    async with open_keeper() as keeper:
        want = Want(
            counter=TOKENS.name, window=TOKENS.window, ends_s=MINUTE + 60.0, limit=1000, at_least=10, wanted=100
        )
        await keeper.exchange(LeaseCall(holder="worker", sequence=1, groups=((want,),)))
        assert await keeper.read([TOKENS]) == (100,)
        back = LeaseReport(counter=TOKENS.name, window=TOKENS.window, ends_s=MINUTE + 60.0, amount=-40)
        await keeper.exchange(LeaseCall(holder="worker", sequence=2, reports=(back,)))
        assert await keeper.read([TOKENS]) == (60,)


async def test_what_runs_is_added_up_over_holders(open_keeper: Any) -> None:
    async with open_keeper() as keeper:
        for holder, amount in (("one", 2), ("two", 3)):
            running = LeaseReport(counter=RUNNING.name, window=NO_WINDOW, ends_s=0.0, amount=amount)
            await keeper.exchange(LeaseCall(holder=holder, sequence=1, reports=(running,)))
        assert await keeper.read([RUNNING, TOKENS, RUNNING]) == (5, 0, 5), "in the order they were asked for"


async def test_reading_counts_nothing(open_keeper: Any) -> None:
    async with open_keeper() as keeper:
        assert await keeper.read([TOKENS, RUNNING]) == (0, 0)
        assert await keeper.read([TOKENS, RUNNING]) == (0, 0)
        assert await keeper.read([]) == ()


async def test_redis_that_is_away_is_named_and_not_its_address() -> None:
    source = RedisLeases("redis://:secret@127.0.0.1:1/0")
    with pytest.raises(StoreUnavailable) as caught:
        await source.read([TOKENS])
    assert "secret" not in str(caught.value)
    await source.close()
