"""What is left of batches that have ended."""

from pathlib import Path

import pytest

from heterodyne.batches.settings import BatchSettings
from heterodyne.batches.work_folder import WorkFolder
from heterodyne.stores.files.folder import FolderContents
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.supervisor.batches.clerk import BatchClerk


@pytest.mark.parametrize(("kept_s", "is_left"), [(0.0, False), (3600.0, True)])
async def test_results_of_a_batch_that_has_ended_stay_for_a_while(tmp_path: Path, kept_s: float, is_left: bool) -> None:
    folder = WorkFolder(tmp_path / "work" / "batch_1")
    folder.open()
    folder.leave()
    other = WorkFolder(tmp_path / "work" / "batch_2")
    other.open()
    database = await SqliteDatabase.open(tmp_path / "documents.db")
    clerk = BatchClerk(
        documents_in(database),
        FolderContents(tmp_path / "files"),
        tmp_path / "work",
        tmp_path,
        settings=BatchSettings,
        kept_days=lambda: 1.0,
        done_kept_s=kept_s,
    )
    await clerk.look()
    assert (tmp_path / "work" / "batch_1.done").exists() is is_left
    assert other.path.exists()
    await database.close()
