"""Operators find the batches of every project: those that are not over, and the latest that ended."""

from pathlib import Path

from heterodyne.batches.batch import KIND, BatchStatus
from heterodyne.batches.listing import ended_batches, open_batches
from tests.support.stored_batches import a_batch, opened_documents, put_batch

NOW = 1000.0


async def test_those_that_are_not_over_come_by_age_with_whether_a_gateway_has_them(tmp_path: Path) -> None:
    async with opened_documents(tmp_path) as store:
        await put_batch(store, a_batch("b", project="other/chat"), created_at=20.0)
        await put_batch(store, a_batch("a"), created_at=10.0, held_until=NOW + 1)
        await put_batch(store, a_batch("over", BatchStatus.COMPLETED), created_at=5.0)
        found = await open_batches(store, NOW, 10)
        assert [(one.batch.id, one.batch.project, one.created_at, one.is_held) for one in found] == [
            ("a", "acme/search", 10.0, True),
            ("b", "other/chat", 20.0, False),
        ]
        assert [one.batch.id for one in await open_batches(store, NOW, 1)] == ["a"]


async def test_of_those_that_ended_the_last_comes_first_and_a_deleted_one_not_at_all(tmp_path: Path) -> None:
    async with opened_documents(tmp_path) as store:
        await put_batch(store, a_batch("late", BatchStatus.EXPIRED, at=300.0), created_at=1.0)
        await put_batch(store, a_batch("early", BatchStatus.COMPLETED, at=200.0), created_at=2.0)
        await put_batch(store, a_batch("deleted", BatchStatus.FAILED, at=400.0), created_at=3.0)
        await put_batch(store, a_batch("open"), created_at=4.0)
        assert await store.delete("acme/search", KIND, "deleted")
        assert [one.batch.id for one in await ended_batches(store, NOW, 10)] == ["late", "early"]
