"""A batch that is over is no work any more, and is listed among those that ended."""

from pathlib import Path

import pytest

from heterodyne.batches.batch import BatchStatus
from heterodyne.batches.listing import ended_batches, open_batches
from heterodyne.ports.document_store import DocumentStore
from heterodyne.supervisor.batches.kept_batch import KeptBatch, open_works
from tests.support.stored_batches import a_batch, opened_documents, put_batch

NOW = 1000.0


async def kept(store: DocumentStore) -> KeptBatch:
    [work] = await open_works(store, NOW)
    return KeptBatch(store, work, "us", lambda: NOW, lambda: 500.0)


@pytest.mark.parametrize("times", [1, 2])
async def test_one_that_ended_is_listed_once_however_often_it_is_closed(tmp_path: Path, times: int) -> None:
    async with opened_documents(tmp_path) as store:
        await put_batch(store, a_batch("b"), created_at=1.0)
        ours = await kept(store)
        await ours.change(lambda one: one.come_to(BatchStatus.COMPLETED, NOW))
        for _ in range(times):
            await ours.close()
        assert await open_batches(store, NOW, 10) == ()
        [ended] = await ended_batches(store, NOW, 10)
        assert (ended.batch.status, ended.created_at) == (BatchStatus.COMPLETED, 1.0)
        assert await ended_batches(store, NOW + 500.0, 10) == (), "for as long as it is kept itself"


async def test_one_that_was_deleted_meanwhile_leaves_nothing(tmp_path: Path) -> None:
    async with opened_documents(tmp_path) as store:
        await put_batch(store, a_batch("b"), created_at=1.0)
        ours = await kept(store)
        assert await store.delete("acme/search", "batch", "b")
        await ours.close()
        assert await open_works(store, NOW) == ()
        assert await ended_batches(store, NOW, 10) == ()
