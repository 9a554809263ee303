"""A batch's documents as one gateway changes them, beside clients who cancel and gateways that would take over."""

from collections.abc import Callable
from typing import Final

from msgspec import structs

from heterodyne.batches.batch import (
    EVERYBODY,
    KIND,
    WORK,
    Batch,
    decode_batch,
    decode_lease,
    encode_batch,
    encode_lease,
    ended_document,
    work_id,
)
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.document_store import Document, DocumentQuery, DocumentStore

LEASE_S: Final = 60.0
TRIES: Final = 8  # to change what others change
AT_ONCE: Final = 200  # work documents in one page


class KeptBatch:
    """One batch that this gateway has the lease of."""

    def __init__(
        self, store: DocumentStore, work: Document, holder: str, clock: Callable[[], float], kept_s: Callable[[], float]
    ) -> None:
        self._store = store
        self._work = work
        self._lease = decode_lease(work.body)
        self._holder = holder
        self._clock = clock
        self._kept_s = kept_s  # for how long it can be asked for after its end

    @property
    def id(self) -> str:
        return self._lease.batch

    @property
    def project(self) -> str:
        """Whose it is."""
        return self._lease.project

    async def try_lease(self) -> bool:
        """Whether this gateway has it for another minute."""
        now = self._clock()
        if self._lease.holder != self._holder and self._lease.until > now:
            return False
        lease = structs.replace(self._lease, holder=self._holder, until=now + LEASE_S)
        work = structs.replace(self._work, body=encode_lease(lease), revision=self._work.revision + 1)
        if not await self._store.replace(work):
            return False
        self._work, self._lease = work, lease
        return True

    async def try_read(self) -> Batch | None:
        """As it is; None: it is gone."""
        found = await self._store.get(self.project, KIND, self.id, self._clock())
        return None if found is None else decode_batch(found.body)

    async def change(self, change: Callable[[Batch], Batch]) -> Batch | None:
        """To what `change` makes of it, as often as others are quicker; None: it is gone."""
        for _ in range(TRIES):
            found = await self._store.get(self.project, KIND, self.id, self._clock())
            if found is None:
                return None
            before = decode_batch(found.body)
            after = change(before)
            if after == before:
                return after
            expires_at = self._clock() + self._kept_s() if after.status.is_end else found.expires_at
            changed = structs.replace(
                found, body=encode_batch(after), revision=found.revision + 1, expires_at=expires_at
            )
            if await self._store.replace(changed):
                return after
        raise StoreUnavailable(f"The batch {self.id} was changed by others {TRIES} times in a row.")

    async def close(self) -> None:
        """Nobody has to work on it any more; one that has ended is listed among those first."""
        found = await self._store.get(self.project, KIND, self.id, self._clock())
        batch = None if found is None else decode_batch(found.body)
        if found is not None and batch is not None and batch.status.is_end:
            await self._store.add([ended_document(batch, kept_until=found.expires_at)])  # or it is a repetition
        await self._store.delete(EVERYBODY, WORK, work_id(self.id))


async def open_works(store: DocumentStore, now: float) -> tuple[Document, ...]:
    """Of all batches that are not over, the oldest first; of very many, the oldest."""
    return await store.page(DocumentQuery(project=EVERYBODY, kind=WORK, limit=AT_ONCE, now=now))
