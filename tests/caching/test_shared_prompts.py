"""Gateways that share prompts find answers to those that mean the same; a store that is away, or that somebody wrote
into, is a miss."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.gateway.caching import shared_prompts
from heterodyne.stores.postgres import prompts as prompts_in_postgres
from tests.caching.test_answers_again import outcome
from tests.caching.test_similar_answers import EMBED, SERVES, TOPICS, WAYS, embed, question, recipe, teach
from tests.support.gateways import Rig, gateway_over
from tests.support.postgres_server import database
from tests.support.raw_client import ask
from tests.support.tenants import bearer, caller, tenants

PATIENT_S = 20.0  # on a machine that is busy with other tests, a miss would be one of the store's time
ANY_SHARE = structs.replace(SERVES, error_share_max=0.5)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("HETERODYNE_CACHE_KEY", "a secret of all gateways")
    monkeypatch.setattr(prompts_in_postgres, "TIMEOUT_S", PATIENT_S)
    monkeypatch.setattr(shared_prompts, "LOOK_UP_S", PATIENT_S)
    with database() as one:
        yield one


@asynccontextmanager
async def two_gateways(url: str, **more: Any) -> AsyncIterator[tuple[Rig, Rig]]:
    shared = {"beside": {EMBED: embed}, "caches": {"near": ANY_SHARE}, "stores": {"prompts_url": url}}
    first, second = (gateway_over(recipe, **(shared | more)) for _ in range(2))
    async with first as one, second as other:
        yield one, other


async def rows(url: str, query: str) -> list[Any]:
    """What is there; nothing as long as the table is not."""
    connection = await asyncpg.connect(url, server_settings={"search_path": "heterodyne_prompts, public"})
    try:
        return await connection.fetch(query)
    except asyncpg.UndefinedTableError:
        return []
    finally:
        await connection.close()


async def stored(url: str, count: int) -> None:
    async with asyncio.timeout(30):
        while len(await rows(url, "SELECT 1 FROM prompts")) < count:
            await asyncio.sleep(0.02)


async def ways_told(rig: Rig, *headers: str, count: int = 40) -> list[str]:
    """What comes of a question that is put a little differently each time."""
    return [
        outcome(await ask(rig.port, question(f"{WAYS[1].format(TOPICS[0])}{'!' * n}", *headers))) for n in range(count)
    ]


async def prompts(rig: Rig) -> int:
    return sum(map(len, rig.gateway._answer_cache.semantic._entries.values()))


async def test_what_one_gateway_was_asked_another_finds(url: str) -> None:
    async with two_gateways(url) as (one, other):
        told = await teach(one)
        await stored(url, told["miss"] // 2)
        await ask(other.port, question(f"how would I {TOPICS[0]}"))
        assert await prompts(other) > 1, "those that are near are among its own"
        again = await ask(other.port, question(WAYS[0].format(TOPICS[0])))
        assert outcome(again) == "hit", "the very same question needs no decision"
        assert "similar" in await ways_told(other, count=150)


async def test_tenants_do_not_share_there_either(url: str) -> None:
    two = tenants(one=caller("acme/one"), two=caller("acme/two"))
    async with two_gateways(url, tenants=two, waits_ready=False) as (one, other):
        for rig in (one, other):
            await rig.wait(lambda rig=rig: rig.holds().replicas_takeable == 2)
        await ask(one.port, question(WAYS[0].format(TOPICS[0]), bearer("one")))
        await stored(url, 1)
        await ask(other.port, question(WAYS[0].format(TOPICS[0]), bearer("two")))
        assert await prompts(other) == 1
        await ask(other.port, question(WAYS[1].format(TOPICS[0]), bearer("one")))
        assert await prompts(other) == 3


@pytest.mark.parametrize("damage", ["cut", "changed", "swapped", "moved", "nonsense"])
async def test_an_entry_that_is_not_as_it_was_sealed_is_a_miss(url: str, damage: str) -> None:
    statement = {
        "cut": "UPDATE prompts SET sealed = substr(sealed, 1, length(sealed) - 1)",
        "changed": "UPDATE prompts SET sealed = overlay(sealed placing 'x' from length(sealed) - 20)",
        "swapped": "UPDATE prompts p SET sealed = (SELECT sealed FROM prompts q WHERE q.fence <> p.fence LIMIT 1)",
        "moved": "UPDATE prompts SET fence = (SELECT max(fence) FROM prompts), "
        "answer_key = answer_key || fence WHERE fence = (SELECT min(fence) FROM prompts)",
        "nonsense": "UPDATE prompts SET sealed = 'x'",
    }
    async with two_gateways(url) as (one, other):
        for tokens in (8, 9):  # two fences
            await ask(one.port, question(WAYS[0].format(TOPICS[0]), max_tokens=tokens))
        await stored(url, 2)
        await rows(url, statement[damage])
        for tokens in (8, 9):
            answer = await ask(other.port, question(WAYS[0].format(TOPICS[0]), max_tokens=tokens))
            assert outcome(answer) in (("hit", "miss") if damage == "moved" else ("miss",))
        expected = 3 if damage == "moved" else 2  # one of the two was not moved
        assert await prompts(other) <= expected


async def test_how_near_an_entry_is_the_seal_says_and_not_the_store(url: str) -> None:
    async with two_gateways(url) as (one, other):
        await ask(one.port, question("What is the capital of France?"))
        await stored(url, 1)
        near = "SELECT array_agg(CASE WHEN n = 1 THEN 1.0 ELSE 0.5 END)::real[]::halfvec FROM generate_series(1, 64) n"
        await rows(url, f"UPDATE prompts SET embedding = ({near})")
        await ask(other.port, question("Which animals can swim under water?"))
        cache = other.gateway._answer_cache.semantic
        (entries,) = cache._entries.values()
        assert len(entries) == 2
        assert outcome(await ask(other.port, question("Which animals can swim under ice?"))) == "miss"


async def test_what_was_dropped_goes_there_and_is_not_believed_before(url: str) -> None:
    async with two_gateways(url) as (one, other):
        await ask(one.port, question(WAYS[0].format(TOPICS[0]), "x-heterodyne-cache-tags: faq"))
        await stored(url, 1)
        before = await rows(url, "SELECT 1 FROM prompts")
        other.gateway.take_drops((CacheDrop(at=time.time(), tag="faq"),))
        await ask(other.port, question(WAYS[1].format(TOPICS[0])))
        assert len(before) == 1
        assert await prompts(other) == 1
        async with asyncio.timeout(30):
            while await rows(url, "SELECT 1 FROM prompts WHERE 'faq' = ANY(tags)"):
                await asyncio.sleep(0.02)


async def test_a_store_that_is_away_is_a_miss(url: str) -> None:
    away = "postgresql://nobody@127.0.0.1:1/nothing"
    async with two_gateways(away) as (one, _):
        began_s = time.monotonic()
        for way in WAYS:
            assert outcome(await ask(one.port, question(way.format(TOPICS[0])))) == "miss"
        assert time.monotonic() - began_s < 10
        assert outcome(await ask(one.port, question(WAYS[0].format(TOPICS[0])))) == "hit", "each keeps its own as well"


async def test_another_secret_opens_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with two_gateways(url) as (one, _):
        await ask(one.port, question(WAYS[0].format(TOPICS[0])))
        await stored(url, 1)
    monkeypatch.setenv("HETERODYNE_CACHE_KEY", "the secret of somebody else")
    async with two_gateways(url) as (_, other):
        assert outcome(await ask(other.port, question(WAYS[0].format(TOPICS[0])))) == "miss"
        assert await prompts(other) == 1
