"""A keeper that fails: workers go on with its batch while the lease is ours, and no longer."""

import asyncio
from pathlib import Path

import pytest
from msgspec import Raw

from heterodyne.batches.notice import Notices
from heterodyne.batches.work_folder import WorkFolder, WorkLine, WorkPlan
from heterodyne.concurrency.deadline import deadline
from heterodyne.ports.document_store import DocumentStore
from heterodyne.stores.files.folder import FolderContents
from heterodyne.supervisor.batches import keeper as keepers
from heterodyne.supervisor.batches.keeper import BatchKeeper, LeaseLost
from heterodyne.supervisor.batches.kept_batch import KeptBatch, open_works
from tests.support.stored_batches import a_batch, opened_documents, put_batch

NOW = 200.0


async def keeper_of(documents: DocumentStore, tmp_path: Path) -> BatchKeeper:
    """Of a batch with a line that has no result yet, which nobody works on."""
    await put_batch(documents, a_batch("batch_1"), created_at=100.0)
    (work,) = await open_works(documents, NOW)
    kept = KeptBatch(documents, work, "us", lambda: NOW, lambda: 3600.0)
    assert await kept.try_lease()
    folder = WorkFolder(tmp_path / "work")
    folder.open()
    folder.write_piece(0, [WorkLine(1, "r-1", Raw(b"{}"))])
    folder.write_plan(WorkPlan(lines=1, problems=0))
    return BatchKeeper(
        kept,
        folder,
        Notices(tmp_path),
        documents,
        FolderContents(tmp_path / "files"),
        lines_max=100,
        files_kept_s=3600.0,
        clock=lambda: NOW,
    )


async def fails(keeper: BatchKeeper, tmp_path: Path) -> BaseException | None:
    """While it waits for results; what it raised."""
    running = asyncio.create_task(keeper.run())
    async with deadline(10.0):
        while not keeper.is_worked_on:
            await asyncio.sleep(0.005)
        broken = tmp_path / "work" / "9.results"
        broken.mkdir()
        await asyncio.wait([running])
        broken.rmdir()
    return running.exception()


async def test_workers_go_on_while_a_keeper_that_failed_has_the_lease_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "LOOK_S", 0.01)
    async with opened_documents(tmp_path) as documents:
        keeper = await keeper_of(documents, tmp_path)
        for _ in range(2):
            assert isinstance(await fails(keeper, tmp_path), ExceptionGroup)
            assert Notices(tmp_path).try_ids() == {"batch_1"}
        monkeypatch.setattr(keepers, "LEASE_S", -1.0)  # it is over
        assert isinstance(await fails(keeper, tmp_path), LeaseLost)
        assert Notices(tmp_path).try_ids() == set()
