"""Gateways that share a store give each other's answers; one that is away, or that somebody wrote into, is a miss."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from redis import Redis

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.stores.redis.answers import PREFIX
from heterodyne.testing.behaviours import stream
from tests.caching.test_answers_again import outcome, same
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.redis_server import RedisServer
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

KEPT = {"kept": CacheSettings()}


@pytest.fixture
def redis(monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    monkeypatch.setenv("HETERODYNE_CACHE_KEY", "a secret of all gateways")
    with RedisServer(keeps=False) as server:
        yield server


@asynccontextmanager
async def two_gateways(redis: RedisServer, **more: object) -> AsyncIterator[tuple[Rig, Rig]]:
    stores = {"cache_url": redis.url}
    first, second = (gateway_over(stream(), caches=KEPT, stores=stores, **more) for _ in range(2))
    async with first as one, second as other:
        yield one, other


async def kept(redis: RedisServer, rig: Rig, count: int = 1) -> None:
    client = Redis.from_url(redis.url)
    await rig.wait(lambda: len(client.keys(PREFIX + b"*")) == count)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_what_one_gateway_was_told_another_knows(redis: RedisServer, is_stream: bool) -> None:
    async with two_gateways(redis) as (one, other):
        assert outcome(await ask(one.port, same(stream=is_stream))) == "miss"
        await kept(redis, one)
        again = await ask(other.port, same())
        assert (outcome(again), len(other.engine.calls)) == ("hit", 0)
        assert outcome(await ask(other.port, same())) == "hit"


async def test_what_was_dropped_is_not_found_there_by_whoever_knows_of_the_drop(redis: RedisServer) -> None:
    async with two_gateways(redis) as (one, other):
        await ask(one.port, same())
        await kept(redis, one)
        other.gateway.take_drops((CacheDrop(at=time.time(), project="local/local"),))
        assert outcome(await ask(other.port, same())) == "miss"
        assert outcome(await ask(other.port, same())) == "hit"


async def test_tenants_do_not_share_there_either(redis: RedisServer) -> None:
    two = tenants(one=caller("acme/one"), two=caller("acme/two"))
    async with two_gateways(redis, tenants=two, waits_ready=False) as (one, other):
        for rig in (one, other):
            await rig.wait(lambda rig=rig: bool(rig.holds().replicas_takeable))
        assert outcome(await ask(one.port, chat(bearer("one"), temperature=0))) == "miss"
        await kept(redis, one)
        assert outcome(await ask(other.port, chat(bearer("two"), temperature=0))) == "miss"
        assert outcome(await ask(other.port, chat(bearer("one"), temperature=0))) == "hit"


async def test_a_time_to_keep_holds_there_too(redis: RedisServer) -> None:
    async with two_gateways(redis) as (one, _):
        await ask(one.port, chat("x-heterodyne-cache-ttl-s: 100", temperature=0))
        await kept(redis, one)
        client = Redis.from_url(redis.url)
        (name,) = client.keys(PREFIX + b"*")
        assert 90 < client.ttl(name) <= 100


@pytest.mark.parametrize("damage", ["cut", "changed", "swapped", "nonsense"])
async def test_an_entry_that_is_not_as_it_was_sealed_is_a_miss(redis: RedisServer, damage: str) -> None:
    async with two_gateways(redis) as (one, other):
        await ask(one.port, same())
        await ask(one.port, same(max_tokens=5))
        await kept(redis, one, 2)
        client = Redis.from_url(redis.url)
        first, second = client.keys(PREFIX + b"*")
        values = {first: client.get(first), second: client.get(second)}
        for name, value in values.items():
            changed = {
                "cut": value[:-1],
                "changed": value.replace(b"hello", b"hacks"),
                "swapped": values[second if name == first else first],
                "nonsense": b"x",
            }
            client.set(name, changed[damage])
        assert outcome(await ask(other.port, same())) == "miss"
        assert len(other.engine.calls) == 1


async def test_another_secret_opens_nothing(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with gateway_over(stream(), caches=KEPT, stores={"cache_url": redis.url}) as one:
        await ask(one.port, same())
        await kept(redis, one)
    monkeypatch.setenv("HETERODYNE_CACHE_KEY", "the secret of somebody else")
    async with gateway_over(stream(), caches=KEPT, stores={"cache_url": redis.url}) as other:
        assert outcome(await ask(other.port, same())) == "miss"


async def test_a_store_that_is_away_is_a_miss_and_is_asked_again_when_it_is_back(redis: RedisServer) -> None:
    async with two_gateways(redis) as (one, other):
        redis.kill()
        answers = [await ask(one.port, same(max_tokens=number)) for number in range(1, 4)]
        assert [(answer.status, outcome(answer)) for answer in answers] == [(200, "miss")] * 3
        assert outcome(await ask(one.port, same(max_tokens=1))) == "hit", "each worker keeps its own as well"
        redis.start()
        client, number = Redis.from_url(redis.url), 4
        async with asyncio.timeout(30):  # a pause after the failure has to be over
            while not client.keys(PREFIX + b"*"):
                await ask(one.port, same(max_tokens=number))
                number += 1
        assert (await ask(other.port, same())).status == 200
