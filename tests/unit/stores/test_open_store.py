"""Which database a URL names."""

from pathlib import Path

import pytest

from heterodyne.domain.errors import StoreInvalid
from heterodyne.stores.open_store import open_database, sqlite_path, tenants_in
from heterodyne.stores.postgres.tenants import PostgresTenants
from heterodyne.stores.sqlite.tenants import SqliteTenants
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:", "/state/heterodyne/heterodyne.db"),
        ("sqlite:/var/lib/h.db", "/var/lib/h.db"),
        ("sqlite:///var/lib/h.db", "/var/lib/h.db"),
        ("sqlite:here.db", "here.db"),
    ],
)
def test_a_sqlite_url_is_a_path(url: str, path: str) -> None:
    assert sqlite_path(url, {"XDG_STATE_HOME": "/state"}) == Path(path)


def test_the_default_is_in_the_users_state_folder() -> None:
    assert sqlite_path("sqlite:", {}) == Path.home() / ".local" / "state" / "heterodyne" / "heterodyne.db"


@pytest.mark.parametrize("url", ["mysql://root:hunter2@db/x", "", "/var/lib/h.db", "sqlit:x"])
async def test_any_other_url_is_refused_without_what_is_secret_in_it(url: str) -> None:
    with pytest.raises(StoreInvalid, match="sqlite:PATH or postgresql://") as refused:
        await open_database(url, {})
    assert "hunter2" not in refused.value.message


async def test_each_database_has_its_tenants(tmp_path: Path, postgres_url: str) -> None:  # noqa: F811
    for url, kind in ((f"sqlite:{tmp_path}/a.db", SqliteTenants), (postgres_url, PostgresTenants)):
        database = await open_database(url, {})
        store = tenants_in(database)
        assert isinstance(store, kind)
        assert (await store.snapshot()).callers == {}
        await database.close()
