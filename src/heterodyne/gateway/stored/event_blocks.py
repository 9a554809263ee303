"""The events of a response in the store, some at a time, so that any gateway can tell them again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from heterodyne.gateway.forms.responses_kept import KIND as RESPONSE
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.event_log import is_end, last_event
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


async def follow_kept(documents: Documents, response: Document, after: int) -> AsyncIterator[list[bytes]]:
    """Those after a number, to the end of all; empty, where there are no more for now. Raises UnknownObject."""
    project, id = response.project, response.id
    block, place, settled_s = "", after + 1, 0.0
    while True:
        found, has_more = await documents.page(
            project, KIND, parent=id, after=block, limit=BLOCKS_AT_ONCE, is_descending=False
        )
        for one in found:
            events = [bytes(event) for event in _decode(one.body)]
            fresh = events[max(0, place - one.place) :]
            block, place = one.id, max(place, one.place + len(events))
            yield fresh
            if is_end(events[-1]):
                return
        if has_more:
            continue
        response = await documents.get(project, RESPONSE, id)
        now = documents.wall_clock()
        if settled_s >= SETTLE_S or is_lost(response, now):
            # Its worker died, or could not write down how it ended.
            yield [last_event(status_of(response), place, as_it_stands(response, now))]
            return
        settled_s = 0.0 if is_running(response) else settled_s + LOOK_S
        yield []
        await asyncio.sleep(LOOK_S)


def has_events(response: Document) -> bool:
    """Whether they were kept: of one that was asked for as a stream, in the background."""
    return decode_stored(response.body).is_streamed
