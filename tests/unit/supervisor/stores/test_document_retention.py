"""Documents are deleted when they have expired, and no sooner."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.document_store import Document, DocumentQuery, DocumentStore
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.supervisor.stores import document_retention
from heterodyne.supervisor.stores.document_retention import AT_ONCE, forget_documents, forget_expired

NOW = 1000.0
WITHIN_S = 10.0


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[DocumentStore]:
    database = await SqliteDatabase.open(tmp_path / "documents.sqlite")
    yield documents_in(database)
    await database.close()


@asynccontextmanager
async def looping(store: DocumentStore) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(forget_documents(store, lambda: NOW))
        yield
        task.cancel()


def documents(count: int, expires_at: float) -> list[Document]:
    return [
        Document(
            id=f"{expires_at}-{number}",
            project="acme/search",
            kind="response",
            created_at=1.0,
            expires_at=expires_at,
            body=b"{}",
        )
        for number in range(count)
    ]


async def count(store: DocumentStore) -> int:
    """Of all, the expired among them."""
    return len(await store.page(DocumentQuery(project="acme/search", kind="response", limit=10_000, now=0.0)))


async def test_more_than_one_transaction_takes_are_forgotten_at_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        await store.add([*documents(2 * AT_ONCE, NOW - 1), *documents(3, NOW + 1)])
        assert await forget_expired(store, NOW) == 2 * AT_ONCE
        assert await count(store) == 3
        assert await forget_expired(store, NOW) == 0


async def test_they_are_forgotten_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_retention, "INTERVAL_S", 0.01)
    async with opened(tmp_path) as store:
        await store.add(documents(1, NOW - 1))
        async with looping(store), deadline(WITHIN_S):
            while await count(store):
                await asyncio.sleep(0.01)
            await store.add([*documents(2, NOW - 2), *documents(1, NOW + 2)])
            while await count(store) > 1:
                await asyncio.sleep(0.01)


async def test_a_store_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_retention, "INTERVAL_S", 0.01)
    asked = asyncio.Event()

    class AwayAtFirst:
        """Of `ports.document_store.DocumentStore` what retention needs."""

        calls = 0

        async def forget(self, before_at: float, most: int) -> int:
            self.calls += 1
            if self.calls == 1:
                raise StoreUnavailable("away")
            asked.set()
            return 0

    async with looping(AwayAtFirst()), deadline(WITHIN_S):  # type: ignore[arg-type]
        await asked.wait()
