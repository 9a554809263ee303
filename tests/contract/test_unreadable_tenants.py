"""Rows that this version did not write: fields of a newer gateway are carried, a bad row costs its own keys alone."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from heterodyne.admission.callers import CallerRing
from heterodyne.domain.errors import StoreUnavailable, Unauthenticated
from heterodyne.domain.tenant import Limits, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.ports.tenant_changes import (
    KeyDraft,
    KeyEdit,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
)
from heterodyne.ports.tenants import TenantStore
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.postgres.tenants import PostgresTenants
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

Execute = Callable[[str], Awaitable[list[tuple[object, ...]]]]
Open = Callable[[], AbstractAsyncContextManager[tuple[TenantStore, Execute]]]

NEWER = '{"tokens_per_week":5,"requests_per_day":9}'


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """The store, and a hand that writes into its tables."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""

    @asynccontextmanager
    async def open_postgres() -> AsyncIterator[tuple[TenantStore, Execute]]:
        database = await PostgresDatabase.open(url)

        async def execute(sql: str) -> list[tuple[object, ...]]:
            async with database.transaction() as connection:
                return [tuple(row) for row in await connection.fetch(sql)]

        yield PostgresTenants(database), execute
        await database.close()

    @asynccontextmanager
    async def open_sqlite() -> AsyncIterator[tuple[TenantStore, Execute]]:
        database = await SqliteDatabase.open(tmp_path / "tenants.db")

        async def execute(sql: str) -> list[tuple[object, ...]]:
            return await database.write(lambda connection: connection.execute(sql).fetchall())

        yield SqliteTenants(database), execute
        await database.close()

    return open_postgres if url else open_sqlite


async def two_projects(store: TenantStore) -> tuple[str, str]:
    """A key of each."""
    await store.create_organisation(OrganisationDraft(id="acme"), who="test")
    secrets = []
    for name in ("acme/bad", "acme/good"):
        await store.create_project(ProjectDraft(id=name), who="test")
        secrets.append((await store.create_key(KeyDraft(project=name), who="test")).secret)
    return secrets[0], secrets[1]


async def test_fields_of_a_newer_gateway_are_carried_through_every_change(opened: Open) -> None:
    async with opened() as (store, execute):
        await two_projects(store)
        [key, *_] = await store.keys(project="acme/good")
        for table, id in (("organisations", "acme"), ("projects", "acme/good"), ("keys", key.id)):
            await execute(f"UPDATE {table} SET limits = '{NEWER}' WHERE id = '{id}'")
        await execute(f"""UPDATE keys SET scopes = '{{"countries":["nl"]}}' WHERE id = '{key.id}'""")

        snapshot = await store.snapshot()
        assert not snapshot.problems
        assert f"key {key.id}: limits.tokens_per_week" in snapshot.unread
        assert (await store.key(key.id)).unread == ("limits.tokens_per_week", "scopes.countries")
        assert (await store.organisation("acme")).limits == Limits(requests_per_day=9)

        await store.update_organisation(OrganisationEdit(id="acme", limits=Limits(usd_per_day=1)), who="test")
        await store.update_project(ProjectEdit(id="acme/good", tier=Tier.GOLD), who="test")
        edit = KeyEdit(id=key.id, limits=Limits(), scopes=Scopes(models=("a",)))
        await store.update_key(edit, who="test")
        successor = (await store.rotate_key(Rotation(id=key.id), who="test")).key
        await store.revoke_key(key.id, who="test")

        limits = {id: json.loads(str(one)) for id, one in await execute("SELECT id, limits FROM organisations")}
        assert limits["acme"] == {"tokens_per_week": 5, "usd_per_day": 1}
        [(stored,)] = await execute("SELECT limits FROM projects WHERE id = 'acme/good'")
        assert stored == NEWER, "what was not said stays to the byte"
        for id in (key.id, successor.id):
            [(stored, scopes)] = await execute(f"SELECT limits, scopes FROM keys WHERE id = '{id}'")
            assert json.loads(str(stored)) == {"tokens_per_week": 5}
            assert json.loads(str(scopes)) == {"countries": ["nl"], "models": ["a"]}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE projects SET tier = 'platinum' WHERE id = 'acme/bad'",
        "UPDATE projects SET limits = 'not json' WHERE id = 'acme/bad'",
        """UPDATE projects SET limits = '{"requests_per_day":"many"}' WHERE id = 'acme/bad'""",
        """UPDATE projects SET scopes = '{"operations":["dreaming"]}' WHERE id = 'acme/bad'""",
        "UPDATE projects SET scopes = '[]' WHERE id = 'acme/bad'",
        "UPDATE projects SET weight = -1 WHERE id = 'acme/bad'",
        "UPDATE keys SET tier = 'platinum' WHERE project = 'acme/bad'",
        "UPDATE keys SET limits = '7' WHERE project = 'acme/bad'",
    ],
)
async def test_a_row_that_cannot_be_read_refuses_its_own_keys_and_says_so(opened: Open, damage: str) -> None:
    async with opened() as (store, execute):
        bad, good = await two_projects(store)
        await execute(damage)
        snapshot = await store.snapshot()
        assert list(snapshot.callers) == [sha256(good.encode()).hexdigest()]
        [problem] = snapshot.problems
        ring = CallerRing(snapshot)
        assert ring.check(b"Bearer " + good.encode(), 0.0).project == "acme/good"
        with pytest.raises(StoreUnavailable, match="operator"):
            ring.check(b"Bearer " + bad.encode(), 0.0)
        with pytest.raises(Unauthenticated):
            ring.check(b"Bearer hd-never", 0.0)

        rows = [*await store.projects(), *await store.keys()]
        [shown] = [one for one in rows if one.problem]
        assert shown.id in problem
        [key] = await store.keys(project="acme/bad")
        revoked = await store.revoke_key(key.id, who="test")
        assert revoked.after.id == key.id, "whoever has the key must be stopped all the same"
        edit = ProjectEdit(id="acme/bad", tier=Tier.GOLD, weight=2.0, limits=Limits(), scopes=Scopes())
        await store.update_project(edit, who="test")
        assert not [one for one in await store.projects() if one.problem], "what is said again can be read"


async def test_an_organisation_that_cannot_be_read_refuses_the_keys_of_its_projects(opened: Open) -> None:
    async with opened() as (store, execute):
        await two_projects(store)
        await store.create_organisation(OrganisationDraft(id="other"), who="test")
        await store.create_project(ProjectDraft(id="other/search"), who="test")
        await store.create_key(KeyDraft(project="other/search"), who="test")
        await execute("UPDATE organisations SET limits = '' WHERE id = 'acme'")
        snapshot = await store.snapshot()
        assert [caller.project for caller in snapshot.callers.values()] == ["other/search"]
        assert len(snapshot.unreadable) == 2
        assert snapshot.has_keys


async def test_an_error_of_the_database_that_is_no_absence_is_unavailability(opened: Open) -> None:
    async with opened() as (store, execute):
        await two_projects(store)
        await execute("ALTER TABLE keys RENAME TO lost")
        for asked in (store.snapshot(), store.keys(), store.create_key(KeyDraft(project="acme/good"), who="test")):
            with pytest.raises(StoreUnavailable):
                await asked
        await execute("ALTER TABLE lost RENAME TO keys")
        assert len((await store.snapshot()).callers) == 2


async def test_a_sqlite_file_that_is_damaged_away_and_restored_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "tenants.db"
    database = await SqliteDatabase.open(path)
    store = SqliteTenants(database)
    await two_projects(store)
    await database.write(lambda connection: connection.execute("SELECT 1"))
    whole = await database.read(lambda connection: connection.serialize())

    def put(content: bytes) -> None:
        for name in ("tenants.db-wal", "tenants.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        draft = tmp_path / "draft"
        draft.write_bytes(content)
        draft.rename(path)

    for damaged in (b"x" * len(whole), whole[:200] + b"\xff" * (len(whole) - 200), b""):
        put(damaged)
        with pytest.raises(StoreUnavailable):
            await store.snapshot()
        with pytest.raises((StoreUnavailable,)):
            await store.create_key(KeyDraft(project="acme/good"), who="test")
        put(whole)
        assert len((await store.snapshot()).callers) == 2
    path.unlink()
    with pytest.raises(StoreUnavailable, match="gone"):
        await store.snapshot()
    put(whole)
    await asyncio.gather(*(store.create_key(KeyDraft(project="acme/good"), who="test") for _ in range(3)))
    assert len((await store.snapshot()).callers) == 5
    await database.close()
