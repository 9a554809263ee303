"""What a store of shared prompts has to do, over a real PostgreSQL with pgvector."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import numpy as np
import pytest

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.ports.prompt_store import PromptStore, StoredPrompt
from heterodyne.stores.postgres.prompts import PgvectorPrompts, need_pgvector
from tests.support.postgres_server import database

FENCE, OTHER = b"f" * 32, b"o" * 32
DIMENSIONS = 24


@pytest.fixture
def url() -> Iterator[str]:
    with database() as one:
        yield one


@asynccontextmanager
async def opened(url: str, **more: Any) -> AsyncIterator[PgvectorPrompts]:
    store = PgvectorPrompts(url, timeout_s=5.0, **more)
    try:
        yield store
    finally:
        await store.close()


def near(seed: int, length: int = DIMENSIONS) -> list[float]:
    return [float(one) for one in np.random.default_rng(seed).standard_normal(length)]


def prompt(key: str, seed: int, **changed: Any) -> StoredPrompt:
    values = {
        "fence": FENCE,
        "answer_key": key.encode(),
        "vector": near(seed),
        "model": "m",
        "project": "acme/one",
        "tags": ("faq",),
        "asked_at_s": 100.0,
        "sealed": key.encode(),
    }
    return StoredPrompt(**(values | changed))


async def test_the_nearest_come_first_and_from_their_fence_alone(url: str) -> None:
    async with opened(url) as store:
        for seed in range(8):
            await store.put(prompt(f"p{seed}", seed), 60.0)
        await store.put(prompt("theirs", 3, fence=OTHER), 60.0)
        found = await store.nearest(FENCE, near(3))
        assert found[0] == b"p3"
        assert len(found) == 4
        assert b"theirs" not in found
        assert await store.nearest(OTHER, near(5)) == [b"theirs"]
        assert await store.nearest(b"n" * 32, near(3)) == []


async def test_a_small_fence_among_many_others_is_found_through_the_graph(url: str) -> None:
    async with opened(url) as store:
        await store.put(prompt("ours", 0), 60.0)
        async with store._connection(60.0) as connection:
            await connection.executemany(
                "INSERT INTO prompts VALUES ($1, $2, $3, $4::real[]::halfvec, 'm', 'p', '{}', 0, "
                "now() + interval '1 hour', '')",
                [(bytes([n % 10]) * 32, b"%d" % n, DIMENSIONS, near(n)) for n in range(2, 402)],
                timeout=60.0,
            )
            name = await connection.fetchval("SELECT current_database()")
            for way in ("sort", "bitmapscan", "seqscan"):  # where the planner would rather read the fence
                await connection.execute(f"ALTER DATABASE {name} SET enable_{way} = off")
    async with opened(url) as store:
        assert await store.nearest(FENCE, near(1)) == [b"ours"]


async def test_vectors_of_other_lengths_stand_beside_each_other(url: str) -> None:
    async with opened(url) as store:
        await store.put(prompt("short", 1), 60.0)
        await store.put(prompt("long", 1, vector=near(1, 4100)), 60.0)
        assert await store.nearest(FENCE, near(2)) == [b"short"]
        assert await store.nearest(FENCE, near(2, 4100)) == [b"long"]


async def test_the_same_prompt_again_takes_the_old_one_s_place(url: str) -> None:
    async with opened(url) as store:
        await store.put(prompt("a", 1), 60.0)
        await store.put(prompt("a", 1, sealed=b"newer"), 60.0)
        assert await store.nearest(FENCE, near(1)) == [b"newer"]


async def test_what_has_ended_is_not_found_and_is_swept(url: str) -> None:
    async with opened(url) as store:
        await store.put(prompt("soon", 1), 0.05)
        await asyncio.sleep(0.1)
        assert await store.nearest(FENCE, near(1)) == []
        store._sweep_at_s = 0.0
        await store.put(prompt("later", 2), 60.0)
        assert await count(store) == 1


async def test_there_is_a_most_of_them_and_what_ends_soonest_gives_way(url: str) -> None:
    async with opened(url, prompts_max=2) as store:
        for number in range(4):
            store._sweep_at_s = 0.0
            await store.put(prompt(f"p{number}", number), 60.0 + number)
        assert sorted(await store.nearest(FENCE, near(3))) == [b"p2", b"p3"]


@pytest.mark.parametrize(
    ("drop", "left"),
    [
        (CacheDrop(at=200.0, tag="faq"), 1),
        (CacheDrop(at=200.0, model="m"), 1),
        (CacheDrop(at=200.0, project="acme/one"), 1),
        (CacheDrop(at=200.0, tag="faq", project="acme/two"), 2),
        (CacheDrop(at=200.0), 0),
        (CacheDrop(at=50.0), 2),
    ],
)
async def test_what_was_dropped_is_removed(url: str, drop: CacheDrop, left: int) -> None:
    async with opened(url) as store:
        await store.put(prompt("a", 1), 60.0)
        await store.put(prompt("b", 2, tags=("news",), model="n", project="acme/two"), 60.0)
        assert await store.remove(drop) == 2 - left
        assert await count(store) == left


async def test_several_begin_at_once(url: str) -> None:
    async with opened(url) as one, opened(url) as other:
        both: tuple[PromptStore, ...] = (one, other)
        await asyncio.gather(*(store.put(prompt(f"p{n}", n), 60.0) for n in range(6) for store in both))
        assert await count(one) == 6


async def test_one_that_is_away_says_so_and_nothing_of_its_password() -> None:
    async with opened("postgresql://somebody:secret@127.0.0.1:1/nothing") as store:
        for call in (store.nearest(FENCE, near(1)), store.put(prompt("a", 1), 60.0), store.remove(CacheDrop(at=1.0))):
            with pytest.raises(StoreUnavailable) as caught:
                await call
            assert "secret" not in str(caught.value)


async def test_before_anything_was_put_there_nothing_is_found(url: str) -> None:
    async with opened(url) as store:
        assert await store.nearest(FENCE, near(1)) == []


async def test_a_user_who_may_not_make_the_extension_is_told_what_its_owner_runs(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("DROP ROLE IF EXISTS plain")
        await connection.execute("CREATE ROLE plain LOGIN")
    finally:
        await connection.close()
    async with opened(url.replace("//postgres:", "//plain:")) as store:
        with pytest.raises(StoreInvalid, match="CREATE EXTENSION vector"):
            await store.prepare()


@pytest.mark.parametrize(
    ("offered", "made", "words"),
    [
        (None, None, "has no pgvector"),
        ("0.8.0", "0.7.4", "pgvector is 0.7.4 there; 0.8 or newer"),
        ("0.7.4", None, "pgvector is 0.7.4 there"),
    ],
)
def test_a_database_without_it_or_with_an_old_one_is_refused(offered: str, made: str, words: str) -> None:
    need_pgvector("0.8.5", None)
    need_pgvector("0.10.0", "0.8.0")
    with pytest.raises(StoreInvalid, match=words):
        need_pgvector(offered, made)


async def count(store: PgvectorPrompts) -> int:
    async with store._connection(5.0) as connection:
        return int(await connection.fetchval("SELECT count(*) FROM prompts"))
