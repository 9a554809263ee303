"""Batches in a database of a test's own, in whatever state it wants them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import structs

from heterodyne.batches.batch import (
    Batch,
    BatchLease,
    BatchStatus,
    encode_lease,
    ended_document,
    work_document,
)
from heterodyne.ports.document_store import DocumentStore
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.sqlite.database import SqliteDatabase

KEPT_S = 7 * 86400.0


@asynccontextmanager
async def opened_documents(tmp_path: Path) -> AsyncIterator[DocumentStore]:
    database = await SqliteDatabase.open(tmp_path / "documents.sqlite")
    try:
        yield documents_in(database)
    finally:
        await database.close()


def a_batch(id: str, status: BatchStatus = BatchStatus.IN_PROGRESS, *, at: float = 100.0, **other: object) -> Batch:
    """One that came to its status at a time, and has another hour."""
    values = {"project": "acme/search", "expires_at": at + 3600.0, "times": {status.value: at}, **other}
    return Batch(
        id=id,
        key="key_1",
        endpoint="/v1/chat/completions",
        input_file="file-in",
        output_file="file-out",
        error_file="file-errors",
        window="1h",
        status=status,
        **values,  # type: ignore[arg-type]
    )


async def put_batch(store: DocumentStore, batch: Batch, *, created_at: float, held_until: float = 0.0) -> None:
    """With the document beside it that its status asks for."""
    kept_until = created_at + KEPT_S
    if batch.status.is_end:
        beside = ended_document(batch, kept_until=kept_until)
    else:
        lease = BatchLease(project=batch.project, batch=batch.id, holder="somebody", until=held_until)
        work = work_document(batch, created_at=created_at, kept_until=kept_until)
        beside = structs.replace(work, body=encode_lease(lease))
    assert await store.add([batch.as_document(created_at=created_at, kept_until=kept_until), beside])
