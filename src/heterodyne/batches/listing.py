"""Which batches there are, of all projects, for operators: those that are not over, and the latest that ended."""

from typing import NamedTuple

from heterodyne.batches.batch import ENDED, EVERYBODY, KIND, WORK, Batch, decode_batch, decode_lease
from heterodyne.ports.document_store import DocumentQuery, DocumentStore


class ListedBatch(NamedTuple):
    """One of them."""

    batch: Batch
    created_at: float
    is_held: bool  # a gateway has taken it up


async def open_batches(store: DocumentStore, now: float, most: int) -> tuple[ListedBatch, ...]:
    """Those that are not over, the oldest first; two reads, however many there are."""
    return await _listed(store, DocumentQuery(project=EVERYBODY, kind=WORK, limit=most, now=now))


async def ended_batches(store: DocumentStore, now: float, most: int) -> tuple[ListedBatch, ...]:
    """The latest that ended, the last one first."""
    query = DocumentQuery(project=EVERYBODY, kind=ENDED, limit=most, is_descending=True, now=now)
    return await _listed(store, query)


async def _listed(store: DocumentStore, query: DocumentQuery) -> tuple[ListedBatch, ...]:
    leases = [decode_lease(one.body) for one in await store.page(query)]
    documents = await store.get_many(KIND, [lease.batch for lease in leases], query.now)
    found = {one.id: one for one in documents}  # without those that their projects have deleted
    return tuple(
        ListedBatch(decode_batch(one.body), one.created_at, lease.until > query.now)
        for lease in leases
        if (one := found.get(lease.batch)) is not None
    )
