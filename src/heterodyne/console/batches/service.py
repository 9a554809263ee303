"""Lists batches and cancels them. Who works on a batch sees at its next look that it is to be cancelled."""

import time
from collections.abc import Callable
from typing import Final

from msgspec import structs

from heterodyne.batches.batch import KIND, BatchStatus, decode_batch, encode_batch
from heterodyne.batches.listing import ended_batches, open_batches
from heterodyne.console.batches.forms import BatchCancellation
from heterodyne.console.batches.pages import BatchPage, CancelledBatch, cancelled_of, row_of
from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.errors import ChangeRefused
from heterodyne.domain.errors import StoreUnavailable, UnknownName
from heterodyne.ports.document_store import DocumentStore

OPEN_MAX: Final = 200
ENDED_MAX: Final = 50
TRIES: Final = 5  # to change what others change


class BatchService:
    """One per supervisor."""

    def __init__(
        self, documents: DocumentStore, recorder: ChangeRecorder, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._documents = documents
        self._recorder = recorder
        self._clock = clock  # of the wall

    async def page(self) -> BatchPage:
        """As they are now."""
        now = self._clock()
        found = await open_batches(self._documents, now, OPEN_MAX + 1)
        return BatchPage(
            open=tuple(map(row_of, found[:OPEN_MAX])),
            ended=tuple(map(row_of, await ended_batches(self._documents, now, ENDED_MAX))),
            is_cut=len(found) > OPEN_MAX,
        )

    async def cancel(self, wanted: BatchCancellation, who: str) -> CancelledBatch:
        """One that is to be cancelled; raises UnknownName, and ChangeRefused where there is nothing left to cancel."""
        intent = Intent(who=who, what="batches.cancel", subject=wanted.batch)
        return await self._recorder.carry_out(intent, lambda: self._cancelled(wanted.batch), _effect)

    async def _cancelled(self, id: str) -> CancelledBatch:
        for _ in range(TRIES):
            now = self._clock()
            found = next(iter(await self._documents.get_many(KIND, [id], now)), None)
            if found is None:
                raise UnknownName(f"There is no batch {id!r}.")
            before = decode_batch(found.body)
            after = before.cancelling(now)
            if after is before:
                if before.status is BatchStatus.CANCELLING:
                    return cancelled_of(before)
                raise ChangeRefused(f"The batch {id} is {before.status}: there is nothing left to cancel.")
            changed = structs.replace(found, body=encode_batch(after), revision=found.revision + 1)
            if await self._documents.replace(changed):
                return cancelled_of(after)
        raise StoreUnavailable("The batch was changed at the same time; try again.", retry_after_s=1)


def _effect(batch: CancelledBatch) -> Effect:
    return Effect(after=batch)
