"""What every store of tenants keeps: names, references, rotations and versions, in SQLite and in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField, StoreInvalid, StoreUnavailable, UnknownName
from heterodyne.domain.operation import Operation
from heterodyne.domain.tenant import RESERVED_ORGANISATIONS, Level, Limits, Organisation, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.ports.tenant_changes import (
    AlreadyThere,
    IssuedKey,
    KeyDraft,
    KeyEdit,
    KeySpent,
    KeyView,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
    TenantChangeKind,
)
from heterodyne.ports.tenants import TenantStore
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.postgres.tenants import PostgresTenants
from heterodyne.stores.sql.migration import Migration
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture

NAMES_OF_TROUBLE = (
    "a'; DROP TABLE keys; --",
    'a" OR 1=1',
    "$1",
    "Acme",
    "a b",
    "a\n",
    "a\x00",
    "-a",
    "",
    "a" * 64,
    "a%",
    "ä",
    "a/../b",
)

Open = Callable[..., AbstractAsyncContextManager[TenantStore]]


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Open:
    """Opens the same store, as often as asked for."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""

    @asynccontextmanager
    async def open_store(migrations: tuple[Migration, ...] = MIGRATIONS) -> AsyncIterator[TenantStore]:
        database: SqliteDatabase | PostgresDatabase
        store: TenantStore
        if url:
            database = await PostgresDatabase.open(url, migrations)
            store = PostgresTenants(database, clock)
        else:
            database = await SqliteDatabase.open(tmp_path / "state" / "tenants.db", migrations)
            store = SqliteTenants(database, clock, poll_s=0.01)
        try:
            yield store
        finally:
            await database.close()

    return open_store


async def acme(store: TenantStore) -> None:
    await store.create_organisation(OrganisationDraft(id="acme"), who="ada")
    await store.create_project(ProjectDraft(id="acme/search"), who="ada")


async def key(store: TenantStore, **more: object) -> IssuedKey:
    return await store.create_key(KeyDraft(project="acme/search", **more), who="ada")  # type: ignore[arg-type]


def digest(issued: IssuedKey) -> str:
    return sha256(issued.secret.encode()).hexdigest()


async def test_what_is_created_is_found_again_after_a_restart(opened: Open) -> None:
    limits = Limits(requests_per_minute=10, usd_per_month=2.5)
    scopes = Scopes(models=("chat", "small-*"), operations=(Operation.CHAT,))
    async with opened() as store:
        await store.create_organisation(OrganisationDraft(id="acme", limits=limits), who="ada")
        draft = ProjectDraft(id="acme/search", tier=Tier.GOLD, weight=2.5, scopes=scopes, keeps_content=True)
        await store.create_project(draft, who="ada")
        issued = await key(store, name="CI, nights", limits=limits, expires_at=2_000_000.0)
    async with opened() as store:
        assert await store.organisation("acme") == Organisation(id="acme", limits=limits)  # type: ignore[arg-type]
        project = await store.project("acme/search")
        assert (project.tier, project.weight, project.scopes, project.keeps_content) == (Tier.GOLD, 2.5, scopes, True)
        assert await store.key(issued.key.id) == issued.key
        assert (issued.key.name, issued.key.limits, issued.key.expires_at) == ("CI, nights", limits, 2_000_000.0)
        assert await store.version() == 3


async def test_a_name_is_given_once(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        with pytest.raises(AlreadyThere, match='organisation "acme" already'):
            await store.create_organisation(OrganisationDraft(id="acme"), who="ada")
        with pytest.raises(AlreadyThere, match='project "acme/search" already'):
            await store.create_project(ProjectDraft(id="acme/search"), who="ada")
        assert await store.version() == 2, "a change that failed is no change"


async def test_a_project_needs_its_organisation_and_a_key_its_project(opened: Open) -> None:
    async with opened() as store:
        with pytest.raises(UnknownName, match="none yet"):
            await store.create_project(ProjectDraft(id="acme/search"), who="ada")
        await acme(store)
        with pytest.raises(UnknownName, match='no organisation "acne"; did you mean "acme"'):
            await store.create_project(ProjectDraft(id="acne/search"), who="ada")
        with pytest.raises(UnknownName, match='no project "acme/serach"; did you mean "acme/search"'):
            await store.create_key(KeyDraft(project="acme/serach"), who="ada")
        for missing in (
            store.organisation("x"),
            store.project("x"),
            store.key("key_x"),
            store.projects(organisation="x"),
        ):
            with pytest.raises(UnknownName):
                await missing


@pytest.mark.parametrize("name", sorted(RESERVED_ORGANISATIONS))
async def test_a_reserved_organisation_cannot_be_created(opened: Open, name: str) -> None:
    async with opened() as store:
        await acme(store)
        with pytest.raises(InvalidField, match="kept for callers that are not in the database"):
            await store.create_organisation(OrganisationDraft(id=name), who="ada")
        with pytest.raises(InvalidField, match="kept for callers that are not in the database"):
            await store.create_project(ProjectDraft(id=f"{name}/playground"), who="ada")
        await store.create_project(ProjectDraft(id=f"acme/{name}"), who="ada")
        made = [one.id for one in await store.projects()]
        assert f"acme/{name}" in made, "among the projects of somebody it is a name like any other"


async def test_a_name_with_anything_but_letters_digits_and_hyphens_is_refused(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        for name in NAMES_OF_TROUBLE:
            with pytest.raises(InvalidField):
                await store.create_organisation(OrganisationDraft(id=name), who="ada")
            with pytest.raises(InvalidField):
                await store.create_project(ProjectDraft(id=f"acme/{name}"), who="ada")
            for refused in (
                store.organisation(name),
                store.update_project(ProjectEdit(id=name, weight=2.0), who="ada"),
                store.revoke_key(name, who="ada"),
            ):
                with pytest.raises((InvalidField, UnknownName)):
                    await refused
        assert len(await store.organisations()) == len(await store.projects()) == 1


async def test_what_looks_like_sql_is_stored_as_data(opened: Open) -> None:
    name = "'); DROP TABLE keys; -- $1 ?1 %s {0}"
    async with opened() as store:
        await acme(store)
        issued = await key(store, name=name, scopes=Scopes(models=(name,), regions=(name,)))
        found = await store.key(issued.key.id)
        assert (found.name, found.scopes.models, found.scopes.regions) == (name, (name,), (name,))


async def test_values_that_cannot_be_are_refused_with_their_path(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        for project, path in (
            (ProjectDraft(id="acme/x", weight=0.0), "weight"),
            (ProjectDraft(id="acme/x", weight=float("nan")), "weight"),
            (ProjectDraft(id="acme/x", limits=Limits(requests_per_minute=-1)), r"limits\.requests_per_minute"),
            (ProjectDraft(id="acme/x", scopes=Scopes(models=("a*b",))), r"scopes\.models"),
            (ProjectDraft(id="acme/x", scopes=Scopes(regions=("",))), r"scopes\.regions"),
            (ProjectDraft(id="nothing"), "organisation/project"),
        ):
            with pytest.raises(InvalidField, match=path):
                await store.create_project(project, who="ada")
        for draft, path in (
            (KeyDraft(project="acme/search", name="a\nb"), "name"),
            (KeyDraft(project="acme/search", name="n" * 101), "name"),
            (KeyDraft(project="acme/search", expires_at=1.0), "expires_at"),
            (KeyDraft(project="acme/search", expires_at=float("inf")), "expires_at"),
        ):
            with pytest.raises(InvalidField, match=path):
                await store.create_key(draft, who="ada")


async def test_a_change_says_who_did_what_and_how_it_was_before(opened: Open, clock: Clock) -> None:
    async with opened() as store:
        await acme(store)
        clock.now_s += 5
        change = await store.update_project(ProjectEdit(id="acme/search", tier=Tier.BRONZE), who="key 1234")
        assert (change.who, change.kind, change.subject) == (
            "key 1234",
            TenantChangeKind.PROJECT_UPDATED,
            "acme/search",
        )
        assert (change.at, change.version) == (clock.now_s, 3)
        assert (change.before.tier, change.after.tier) == (Tier.SILVER, Tier.BRONZE)  # type: ignore[union-attr]
        off = await store.update_organisation(OrganisationEdit(id="acme", is_disabled=True), who="ada")
        on = await store.update_organisation(OrganisationEdit(id="acme", is_disabled=False), who="ada")
        assert (off.kind, on.kind) == (TenantChangeKind.ORGANISATION_DISABLED, TenantChangeKind.ORGANISATION_ENABLED)
        assert msgspec.json.decode(msgspec.json.encode(off))["after"]["is_disabled"] is True


async def test_a_secret_is_shown_once_and_kept_nowhere(opened: Open, tmp_path: Path) -> None:
    async with opened() as store:
        await acme(store)
        issued = await key(store)
        assert len(issued.secret) == 46
        assert issued.secret.startswith("hd-")
        shown = [repr(issued), repr(issued.change), repr(await store.keys()), str(msgspec.json.encode(issued.change))]
        assert not [text for text in shown if issued.secret in text or digest(issued) in text]
    assert not [path for path in tmp_path.rglob("*.db*") if issued.secret.encode() in path.read_bytes()]


async def test_what_is_not_said_in_an_edit_stays_and_null_can_be_said(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        issued = await key(store, name="one", tier=Tier.GOLD, expires_at=2_000_000.0)
        await store.update_key(KeyEdit(id=issued.key.id, name="two"), who="ada")
        assert (await store.key(issued.key.id)).tier is Tier.GOLD
        change = await store.update_key(KeyEdit(id=issued.key.id, tier=None, expires_at=None), who="ada")
        after = await store.key(issued.key.id)
        assert (after.name, after.tier, after.expires_at) == ("two", None, None)
        assert change.after == after


async def test_rotation_keeps_the_rights_and_ends_the_old_key_after_the_overlap(opened: Open, clock: Clock) -> None:
    async with opened() as store:
        await acme(store)
        rights = {"tier": Tier.GOLD, "limits": Limits(tokens_per_day=5), "scopes": Scopes(models=("chat",))}
        old = await key(store, name="ci", **rights)
        new = await store.rotate_key(Rotation(id=old.key.id, overlap_s=60), who="ada")
        assert {field: getattr(new.key, field) for field in rights} == rights
        assert (new.key.name, new.key.expires_at, new.key.id != old.key.id) == ("ci", None, True)
        assert (await store.key(old.key.id)).replaced_by == new.key.id
        both = (await store.snapshot()).callers
        assert set(both) == {digest(old), digest(new)}
        assert both[digest(old)].expires_at == clock.now_s + 60
        clock.now_s += 60
        assert set((await store.snapshot()).callers) == {digest(new)}
        assert [one.id for one in await store.keys()] == [new.key.id]
        assert len(await store.keys(with_spent=True)) == 2


async def test_rotation_without_overlap_ends_the_old_key_at_once(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        old = await key(store)
        new = await store.rotate_key(Rotation(id=old.key.id, overlap_s=0), who="ada")
        assert set((await store.snapshot()).callers) == {digest(new)}
        assert (new.change.kind, new.change.subject) == (TenantChangeKind.KEY_ROTATED, old.key.id)


async def test_rotation_never_lengthens_a_life_by_itself(opened: Open, clock: Clock) -> None:
    async with opened() as store:
        await acme(store)
        end = clock.now_s + 100
        old = await key(store, expires_at=end)
        new = await store.rotate_key(Rotation(id=old.key.id, overlap_s=1000), who="ada")
        assert (new.key.expires_at, (await store.key(old.key.id)).expires_at) == (end, end)
        longer = await store.rotate_key(Rotation(id=new.key.id, expires_at=None), who="ada")
        assert longer.key.expires_at is None


async def test_a_key_is_rotated_once_and_only_while_it_works(opened: Open, clock: Clock) -> None:
    async with opened() as store:
        await acme(store)
        old = await key(store)
        new = await store.rotate_key(Rotation(id=old.key.id), who="ada")
        with pytest.raises(KeySpent, match=f"rotate {new.key.id}"):
            await store.rotate_key(Rotation(id=old.key.id), who="ada")
        await store.revoke_key(new.key.id, who="ada")
        with pytest.raises(KeySpent, match="is revoked"):
            await store.rotate_key(Rotation(id=new.key.id), who="ada")
        clock.now_s += 86400
        with pytest.raises(KeySpent, match="has expired"):
            await store.update_key(KeyEdit(id=old.key.id, name="again"), who="ada")


async def test_a_revoked_key_is_gone_at_once_and_its_moment_stays(opened: Open, clock: Clock) -> None:
    async with opened() as store:
        await acme(store)
        issued = await key(store)
        first = await store.revoke_key(issued.key.id, who="ada")
        assert (await store.snapshot()).callers == {}
        clock.now_s += 10
        second = await store.revoke_key(issued.key.id, who="bob")
        assert isinstance(first.after, KeyView)
        assert first.after == second.after
        assert second.version == first.version + 1


async def test_keys_of_what_is_disabled_are_not_in_the_snapshot(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        issued = await key(store)
        for off, on in (
            (OrganisationEdit(id="acme", is_disabled=True), OrganisationEdit(id="acme", is_disabled=False)),
            (ProjectEdit(id="acme/search", is_disabled=True), ProjectEdit(id="acme/search", is_disabled=False)),
        ):
            for edit, callers in ((off, set()), (on, {digest(issued)})):
                if isinstance(edit, ProjectEdit):
                    await store.update_project(edit, who="ada")
                else:
                    await store.update_organisation(edit, who="ada")
                snapshot = await store.snapshot()
                assert set(snapshot.callers) == callers
                assert len(snapshot.projects) == len(callers)


async def test_the_snapshot_has_everything_of_a_caller(opened: Open) -> None:
    few, many = Limits(requests_per_minute=1), Limits(requests_per_minute=100)
    narrow, wide = Scopes(models=("chat",)), Scopes(regions=("eu",))
    async with opened() as store:
        await store.create_organisation(OrganisationDraft(id="acme", limits=many), who="ada")
        await store.create_project(ProjectDraft(id="acme/search", scopes=wide, weight=3.0), who="ada")
        await store.create_project(ProjectDraft(id="acme/other"), who="ada")
        issued = await key(store, limits=few, scopes=narrow, tier=Tier.GOLD)
        plain = await store.create_key(KeyDraft(project="acme/other"), who="ada")
        snapshot = await store.snapshot()
    caller, other = snapshot.callers[digest(issued)], snapshot.callers[digest(plain)]
    assert snapshot.version == 5
    assert (caller.key, caller.project, caller.organisation) == (issued.key.id, "acme/search", "acme")
    assert (caller.tier, caller.weight, caller.scopes) == (Tier.GOLD, 3.0, (narrow, wide))
    assert caller.levels == (
        Level(name="organisation:acme", limits=many),
        Level(name=f"key:{issued.key.id}", limits=few),
    )
    assert {one.key: (one.scopes, one.levels, one.salt) for one in snapshot.projects} == {
        "token:acme/search": ((wide,), caller.levels[:1], caller.salt),
        "token:acme/other": ((), caller.levels[:1], other.salt),
    }
    assert (other.tier, other.scopes) == (Tier.SILVER, ())
    assert len(caller.salt) == len(other.salt) == 16
    assert caller.salt != other.salt
    assert msgspec.json.decode(msgspec.json.encode(snapshot), type=type(snapshot)) == snapshot


async def test_the_salt_of_a_project_stays_when_it_changes(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        issued = await key(store)
        before = (await store.snapshot()).callers[digest(issued)]
        await store.update_project(ProjectEdit(id="acme/search", weight=7.0), who="ada")
        after = (await store.snapshot()).callers[digest(issued)]
        assert (after.salt, after.weight) == (before.salt, 7.0)


async def test_lists_are_pages_in_the_order_of_ids(opened: Open) -> None:
    async with opened() as store:
        await acme(store)
        for name in ("zeta", "beta", "a-1", "a1"):
            await store.create_organisation(OrganisationDraft(id=name), who="ada")
        ids = [one.id for one in await store.organisations()]
        assert ids == ["a-1", "a1", "acme", "beta", "zeta"], "by their bytes, whatever the machine's language"
        assert [one.id for one in await store.organisations(after="a1", limit=2)] == ["acme", "beta"]
        assert await store.projects(organisation="zeta") == ()
        assert [one.id for one in await store.projects(organisation="acme")] == ["acme/search"]
        for limit in (0, 1001):
            with pytest.raises(InvalidField, match="limit"):
                await store.organisations(limit=limit)


async def test_two_writers_lose_nothing_and_share_one_count(opened: Open) -> None:
    async with opened() as one, opened() as two:
        await acme(one)
        issued = await asyncio.gather(*(key(store, name=str(n)) for n in range(20) for store in (one, two)))
        assert sorted(each.change.version for each in issued) == list(range(3, 43))
        assert set((await two.snapshot()).callers) == {digest(each) for each in issued}
        outcomes = await asyncio.gather(
            *(store.create_organisation(OrganisationDraft(id="same"), who="ada") for store in (one, two)),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["AlreadyThere", "TenantChange"]
        assert await one.version() == await two.version() == 43


async def test_a_key_that_two_operators_rotate_has_one_successor(opened: Open) -> None:
    async with opened() as one, opened() as two:
        await acme(one)
        old = await key(one)
        outcomes = await asyncio.gather(
            *(store.rotate_key(Rotation(id=old.key.id), who="ada") for store in (one, two)), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["IssuedKey", "KeySpent"]
        assert len(await one.keys()) == 2


async def test_a_change_made_elsewhere_is_noticed(opened: Open) -> None:
    async with opened() as here, opened() as there:
        await acme(here)
        async with aclosing(here.changes(since=1)) as versions:  # type: ignore[type-var]
            assert await anext(versions) == 2, "what happened before anybody listened counts too"
            waiting = asyncio.ensure_future(anext(versions))
            issued = await key(there)
            async with asyncio.timeout(5):  # sooner than the look that is taken without a notice
                assert await waiting == issued.change.version == 3
                await there.revoke_key(issued.key.id, who="ada")
                assert await anext(versions) == 4


async def test_several_open_a_new_database_at_once_and_again(opened: Open) -> None:
    async def once() -> int:
        async with opened() as store:
            return await store.version()

    assert await asyncio.gather(*(once() for _ in range(5))) == [0] * 5
    assert await once() == 0


async def test_a_database_is_migrated_while_others_serve(opened: Open) -> None:
    more = Migration(
        number=len(MIGRATIONS) + 1,
        name="colours",
        sqlite=("CREATE TABLE colours (id TEXT PRIMARY KEY) STRICT",),
        postgres=("CREATE TABLE colours (id TEXT PRIMARY KEY)",),
    )
    async with opened() as old:
        await acme(old)
        async with opened((*MIGRATIONS, more)) as new:
            await key(old)
            await key(new)
            assert len(await old.keys()) == 2
        with pytest.raises(StoreInvalid, match="newer Heterodyne"):
            async with opened():
                pass


async def test_a_migration_that_fails_leaves_nothing_behind(opened: Open) -> None:
    bad = Migration(
        number=len(MIGRATIONS) + 1,
        name="bad",
        sqlite=("CREATE TABLE half (id TEXT)", "CREATE TABLE half (id TEXT)"),
        postgres=("CREATE TABLE half (id TEXT)", "CREATE TABLE half (id TEXT)"),
    )
    with pytest.raises(StoreInvalid, match="half"):
        async with opened((*MIGRATIONS, bad)):
            pass
    async with opened() as store:
        assert await store.version() == 0


async def test_a_closed_store_says_so(opened: Open) -> None:
    async with opened() as store:
        pass
    with pytest.raises(StoreUnavailable):
        await store.version()
    with pytest.raises(StoreUnavailable):
        await acme(store)
