"""A real PostgreSQL: what is refused when it is opened, and what happens when it goes away."""

import asyncio
from contextlib import aclosing

import asyncpg
import pytest

from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.ports.tenant_changes import OrganisationDraft
from heterodyne.stores.postgres import tenants
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.postgres.tenants import PostgresTenants
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hunter2@127.0.0.1:1/nothing",
        "postgresql://ada:hunter2@nowhere.invalid/nothing",
        "postgresql://ada:hunter2@127.0.0.1:port/nothing",
    ],
)
async def test_a_server_that_is_not_there_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StoreInvalid, match="cannot open the PostgreSQL database") as refused:
        await PostgresDatabase.open(url)
    assert "hunter2" not in refused.value.message


async def test_a_database_that_does_not_exist_is_named(postgres_url: str) -> None:  # noqa: F811
    with pytest.raises(StoreInvalid, match="does not exist"):
        await PostgresDatabase.open(postgres_url.replace("/test_", "/not_"))


async def test_a_schema_of_another_program_is_refused(postgres_url: str) -> None:  # noqa: F811
    theirs = await asyncpg.connect(postgres_url)
    await theirs.execute("CREATE SCHEMA heterodyne; CREATE TABLE heterodyne.precious (x INTEGER)")
    with pytest.raises(StoreInvalid, match="belongs to another program"):
        await PostgresDatabase.open(postgres_url)
    assert await theirs.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'heterodyne'") == 1
    await theirs.close()


async def test_tables_of_others_in_the_same_database_do_not_matter(postgres_url: str) -> None:  # noqa: F811
    theirs = await asyncpg.connect(postgres_url)
    await theirs.execute("CREATE TABLE keys (x INTEGER)")
    database = await PostgresDatabase.open(postgres_url)
    assert await PostgresTenants(database).keys() == ()
    await database.close()
    await theirs.close()


async def test_a_connection_that_is_cut_in_the_middle_is_unavailable_and_the_next_works(
    postgres_url: str,  # noqa: F811
) -> None:
    database = await PostgresDatabase.open(postgres_url)
    with pytest.raises(StoreUnavailable, match="does not answer"):
        async with database.transaction() as connection:
            await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert await PostgresTenants(database).version() == 0
    await database.close()


async def test_changes_are_heard_again_after_the_listening_connection_was_cut(
    postgres_url: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tenants, "RETRY_S", 0.01)
    database = await PostgresDatabase.open(postgres_url)
    store = PostgresTenants(database)
    await store.create_organisation(OrganisationDraft(id="a"), who="ada")
    async with aclosing(store.changes(since=0)) as versions:
        assert await anext(versions) == 1
        waiting = asyncio.ensure_future(anext(versions))
        async with database.connection() as connection:
            cut = 0
            while not cut:
                cut = await connection.fetchval(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid() AND datname = current_database()"
                )
        await store.create_organisation(OrganisationDraft(id="b"), who="ada")
        async with asyncio.timeout(tenants.LOOK_S / 2):
            assert await waiting == 2
    await database.close()
