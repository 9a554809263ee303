"""What the doctor says of those who are held to regions, by a real database."""

import asyncio
from pathlib import Path

import pytest

from heterodyne.audit.settings import AuditSettings
from heterodyne.cli.doctor.finding import FindingState
from heterodyne.cli.doctor.residency import residency
from heterodyne.config.settings import Settings
from heterodyne.domain.tenant import Scopes
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft
from heterodyne.stores.held_tenants import HeldTenant, held, held_tenants
from heterodyne.stores.settings import StoreSettings
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.tenants import SqliteTenants


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Two projects, one of which is held to a region, and three keys, one of which was revoked."""

    async def fill() -> None:
        database = await SqliteDatabase.open(tmp_path / "tenants.db")
        tenants = SqliteTenants(database)
        await tenants.create_organisation(OrganisationDraft(id="acme"), who="a test")
        held_to = Scopes(regions=("eu", "asia"))
        await tenants.create_project(ProjectDraft(id="acme/held", scopes=held_to), who="a test")
        await tenants.create_project(ProjectDraft(id="acme/free"), who="a test")
        await tenants.create_key(KeyDraft(project="acme/held", name="all of them"), who="a test")
        own = Scopes(regions=("us", "eu"))
        await tenants.create_key(KeyDraft(project="acme/held", name="less", scopes=own), who="a test")
        gone = await tenants.create_key(KeyDraft(project="acme/free", name="gone", scopes=own), who="a test")
        await tenants.revoke_key(gone.key.id, who="a test")
        await database.close()

    asyncio.run(fill())
    return f"sqlite:{tmp_path / 'tenants.db'}"


def test_projects_and_keys_that_are_held_are_read_and_nothing_is_made(url: str, tmp_path: Path) -> None:
    project, key = asyncio.run(held_tenants(url, {}))
    assert project == HeldTenant(name="acme/held", regions=frozenset(("eu", "asia")))
    assert key.regions == frozenset(("eu",))
    assert asyncio.run(held_tenants(f"sqlite:{tmp_path / 'none.db'}", {})) == ()
    assert not (tmp_path / "none.db").exists()


def test_a_row_that_cannot_be_read_is_left_to_others() -> None:
    rows = [("acme/a", "{"), ("acme/b", '{"regions":["eu"]}')]
    assert [one.name for one in held(rows, [("k_1", "acme/a", "no JSON")])] == ["acme/b"]


def test_each_place_is_named_with_what_is_lost(url: str) -> None:
    settings = Settings(
        stores=StoreSettings(url=url, regions=("us",), cache_url="redis://cache", cache_region="eu"),
        gateway=GatewaySettings(files_regions=("eu", "us")),
        audit=AuditSettings(is_on=True, regions=("eu",)),
        pools={"p": PoolSettings(model="m", urls=("http://gpu1:8000",), kv_store="shared")},
        kv_stores={
            "shared": KvStoreSettings(medium="redis", capacity_gb=1.0, regions=("us",)),
            "unused": KvStoreSettings(medium="redis", capacity_gb=1.0, regions=("us",)),
        },
    )
    found = {one.name: (one.state, one.value) for one in residency(settings)}
    assert set(found) == {
        *("stores.regions", "gateway.files_regions", "audit.regions", "stores.cache_region"),
        "kv_stores.shared.regions",
    }
    state, value = found["stores.regions"]
    assert state is FindingState.WARNING
    assert value.startswith("us; acme/held (asia, eu), ")
    assert value.endswith(" (eu) have no response, conversation, file or batch kept")
    assert found["kv_stores.shared.regions"][1].endswith("are not answered by 1 pool: p")
    assert found["gateway.files_regions"][0] is FindingState.WARNING
    assert found["audit.regions"] == found["stores.cache_region"] == (FindingState.GOOD, "eu, for all")


def test_a_place_that_says_no_region_is_noted_where_somebody_is_held_to_one(url: str, tmp_path: Path) -> None:
    states = {one.name: one.state for one in residency(Settings(stores=StoreSettings(url=url)))}
    assert states == {"stores.regions": FindingState.NOTE, "gateway.files_regions": FindingState.NOTE}
    assert list(residency(Settings(stores=StoreSettings(url=f"sqlite:{tmp_path / 'none.db'}")))) == []
