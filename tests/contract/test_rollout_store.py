"""What every store knows of rollouts, asked of SQLite and of a real PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.ports.rollout_store import RolloutStore, StoredRollout
from heterodyne.stores.open_store import rollouts_in
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

Opened = Callable[[], AbstractAsyncContextManager[RolloutStore]]


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def store() -> AsyncIterator[RolloutStore]:
        database: SqliteDatabase | PostgresDatabase
        if request.param == "sqlite":
            database = await SqliteDatabase.open(tmp_path / "rollouts.sqlite")
        else:
            database = await PostgresDatabase.open(request.getfixturevalue("postgres_url"))
        yield rollouts_in(database)
        await database.close()

    return store


def rollout(id: str, model: str = "m", at: float = 1.0, *, is_ended: bool = False) -> StoredRollout:
    return StoredRollout(id=id, model=model, revision=0, began_at=at, is_ended=is_ended, document='{"ä": 1}')


async def test_what_was_begun_is_there_for_whoever_opens_it_again(opened: Opened) -> None:
    async with opened() as store:
        assert await store.begin(rollout("a"))
        assert await store.begin(rollout("b", "other", 2.0))
    async with opened() as again:
        assert await again.rollouts() == (rollout("a"), rollout("b", "other", 2.0))


async def test_of_a_model_one_runs_at_a_time(opened: Opened) -> None:
    async with opened() as store:
        assert await store.begin(rollout("a"))
        assert not await store.begin(rollout("b", at=2.0))
        assert await store.save(structs.replace(rollout("a"), revision=1, is_ended=True))
        assert await store.begin(rollout("b", at=2.0))
        assert [one.id for one in await store.rollouts()] == ["b"], "the latest has the say"
        assert [one.id for one in await store.history("m", 10)] == ["b", "a"]
        assert [one.id for one in await store.history("m", 1)] == ["b"]


async def test_of_two_who_save_at_once_one_is_told_to_look_again(opened: Opened) -> None:
    async with opened() as store:
        await store.begin(rollout("a"))
        first = structs.replace(rollout("a"), revision=1, document="1")
        assert await store.save(first)
        assert not await store.save(structs.replace(first, document="2"))
        (found,) = await store.rollouts()
        assert (found.revision, found.document) == (1, "1")
        assert not await store.save(structs.replace(rollout("none"), revision=1))
