"""What a gateway must be able to start with."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from heterodyne.assembly.stores import open_supervisor_stores
from heterodyne.config.settings import Settings
from heterodyne.ports.tenant_changes import KeyDraft, OrganisationDraft, ProjectDraft


async def test_a_row_that_cannot_be_read_blocks_no_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    settings = Settings()
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    async with open_supervisor_stores(settings, run_dir) as stores:
        await stores.tenants.create_organisation(OrganisationDraft(id="acme"), who="test")
        for project in ("acme/good", "acme/newer", "acme/bad"):
            await stores.tenants.create_project(ProjectDraft(id=project), who="test")
            await stores.tenants.create_key(KeyDraft(project=project), who="test")
    with closing(sqlite3.connect(tmp_path / "heterodyne" / "heterodyne.db")) as tables, tables:
        tables.execute("""UPDATE projects SET limits = '{"tokens_per_week":5}' WHERE id = 'acme/newer'""")
        tables.execute("UPDATE projects SET limits = 'nothing' WHERE id = 'acme/bad'")
        tables.execute("UPDATE tenants_version SET version = version + 1")
    async with open_supervisor_stores(settings, run_dir) as stores:
        assert {caller.project for caller in stores.snapshot.callers.values()} == {"acme/good", "acme/newer"}
        assert len(stores.snapshot.unreadable) == 1
        assert stores.snapshot.has_keys
