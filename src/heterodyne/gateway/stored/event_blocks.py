"""The events of a response in the store, some at a time, so that any gateway can tell them again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from heterodyne.gateway.forms.responses_kept import KIND as RESPONSE
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.event_log import SomeEvents, is_end, last_event
from heterodyne.gateway.stored.running import as_it_stands, decode_stored, is_lost, is_running, status_of
from heterodyne.ports.document_store import Document

KIND: Final = "response.events"
BLOCKS_AT_ONCE: Final = 8
LOOK_S: Final = 0.5  # between two looks for more
SETTLE_S: Final = 5.0  # that the last events may come after the response itself

_decode = msgspec.json.Decoder(list[Raw]).decode


async def keep_events(documents: Documents, response: Document, first: int, events: Sequence[bytes]) -> None:
    """Those from a number on, which are not there yet."""
    block = Document(
        id=f"{response.id}.{first}",
        project=response.project,
        kind=KIND,
        parent=response.id,
        place=first,
        created_at=documents.wall_clock(),
        expires_at=documents.expires_at,
        body=b"[%b]" % b",".join(events),
    )
    await documents.add_all([block])


class KeptEvents:
    """Reads those of one response, block after block."""

    def __init__(self, documents: Documents, response: Document) -> None:
        self._documents = documents
        self._response = response
        self._read: list[Document] = []  # and not told yet
        self._last = ""  # block that was read
        self.is_ended = False  # the end of all was among them

    async def more(self, place: int) -> SomeEvents | None:
        """Those of the next block that has a number, or higher ones; None: there are none for now."""
        while True:
            if not self._read:
                await self._read_on()
            if not self._read:
                return None
            block = self._read.pop(0)
            events = _decode(block.body)
            self.is_ended = is_end(bytes(events[-1]))
            fresh = events[max(0, place - block.place) :]
            if fresh:
                return SomeEvents(max(place, block.place), [bytes(event) for event in fresh])

    async def _read_on(self) -> None:
        project, parent = self._response.project, self._response.id
        found, _ = await self._documents.page(
            project, KIND, parent=parent, after=self._last, limit=BLOCKS_AT_ONCE, is_descending=False
        )
        if found:
            self._read, self._last = list(found), found[-1].id


async def follow_kept(documents: Documents, response: Document, after: int) -> AsyncIterator[SomeEvents]:
    """Those after a number, to the end of all; empty, where there are no more for now. Raises UnknownObject."""
    kept, place, settled_s = KeptEvents(documents, response), after + 1, 0.0
    while True:
        while (some := await kept.more(place)) is not None:
            place = some.end
            yield some
        if kept.is_ended:
            return
        response = await documents.get(response.project, RESPONSE, response.id)
        now = documents.wall_clock()
        if settled_s >= SETTLE_S or is_lost(response, now):
            # Its worker died, or could not write down how it ended.
            yield SomeEvents(place, [last_event(status_of(response), place, as_it_stands(response, now))])
            return
        settled_s = 0.0 if is_running(response) else settled_s + LOOK_S
        yield SomeEvents(place, [])
        await asyncio.sleep(LOOK_S)


def has_events(response: Document) -> bool:
    """Whether they were kept: of one that was asked for as a stream, in the background."""
    return decode_stored(response.body).is_streamed
