"""Anthropic's message batches: /v1/messages/batches. They are worked off as OpenAI's are, and told in other words."""

import asyncio
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.batches import file_object
from heterodyne.batches.batch import ANTHROPIC_API, KIND, Batch, decode_batch
from heterodyne.batches.message_batch import MESSAGES, message_batch
from heterodyne.batches.result_words import one_line
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.forms.responses_words import new_id
from heterodyne.gateway.pages import PageResponse, PageRest
from heterodyne.gateway.stored.batch_pages import add_batch, cancelled, new_batch_file
from heterodyne.gateway.stored.documents import Documents, unknown
from heterodyne.gateway.stored.pages import ListQuery, encode, id_in, shown
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.ports.document_store import Document
from heterodyne.wire.message import HttpRequest

ID: Final = 3  # its place in the path
LIMIT_MAX: Final = 1000
WINDOW: Final = "24h"
WINDOW_S: Final = 86400.0
CustomId = Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")]
JSON_LINES: Final = b"content-type: application/x-jsonl\r\n"


class BatchedMessage(Struct, kw_only=True, forbid_unknown_fields=True):
    """One of its requests."""

    custom_id: CustomId
    params: Raw


class MessageBatchFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new batch."""

    requests: Annotated[list[BatchedMessage], Meta(min_length=1)]


_fields = msgspec.json.Decoder(MessageBatchFields)


async def create(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/messages/batches"""
    room.places.check_files(caller)
    content = await asyncio.to_thread(_lines, http.body, room.documents.lines_max)
    now = room.documents.wall_clock()
    id = new_id("msgbatch")
    kept = await room.files.keep_bytes(caller.project, content, filename=f"{id}.jsonl", purpose=file_object.BATCH)
    batch = Batch(
        id=id,
        project=caller.project,
        key=caller.key,
        api=ANTHROPIC_API,
        endpoint=MESSAGES,
        input_file=kept.id,
        output_file=new_batch_file(),
        error_file=new_batch_file(),
        window=WINDOW,
        expires_at=now + min(WINDOW_S, room.documents.window_max_s),
    )
    return _shown(await add_batch(room.documents, batch))


async def batch(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/messages/batches/{id}"""
    return _shown(await _found(room.documents, caller.project, id_in(http, ID)))


async def batches(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/messages/batches: the newest first."""
    query = ListQuery(http, is_descending=True, limit_max=LIMIT_MAX)
    before, after = query.members.get("before_id", ""), query.members.get("after_id", "")
    if before and after:
        raise InvalidField("before_id: it goes without after_id.", param="before_id")
    found, has_more = await room.documents.page(
        caller.project, KIND, parent=ANTHROPIC_API, after=before or after, limit=query.limit, is_descending=not before
    )
    shown_now = found[::-1] if before else found
    ids = [one.id for one in shown_now]
    told: dict[str, Any] = {
        "data": [message_batch(decode_batch(one.body), one.created_at) for one in shown_now],
        "has_more": has_more,
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
    }
    return shown(encode(told))


async def cancel(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/messages/batches/{id}/cancel"""
    found = await _found(room.documents, caller.project, id_in(http, ID))
    return _shown(await cancelled(room.documents, caller.project, found.id))


async def delete(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/messages/batches/{id}: of one that is over, with its results."""
    found = await _found(room.documents, caller.project, id_in(http, ID))
    one = decode_batch(found.body)
    if not one.status.is_end:
        raise InvalidField("The batch is not over; cancel it first.")
    for file in (one.input_file, one.output_file):
        if await room.documents.try_get(caller.project, file_object.KIND, file) is not None:
            await room.files.delete(caller.project, file)
    await room.documents.delete(caller.project, KIND, found.id)
    return shown(encode({"id": found.id, "type": "message_batch_deleted"}))


async def results(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/messages/batches/{id}/results: one line each, in the order of the requests."""
    found = await _found(room.documents, caller.project, id_in(http, ID))
    one = decode_batch(found.body)
    if not one.status.is_end:
        raise InvalidField("The batch is not over; its results are not there yet.")
    if not one.has_output:
        return PageResponse(200, JSON_LINES, b"")
    download = await room.files.open(caller.project, one.output_file)
    return PageResponse(200, JSON_LINES, b"", PageRest(download.size_bytes, partial(room.files.send, download)))


async def _found(documents: Documents, project: str, id: str) -> Document:
    found = await documents.get(project, KIND, id)
    if found.parent != ANTHROPIC_API:
        raise unknown(KIND, id)
    return found


def _shown(document: Document) -> PageResponse:
    return shown(encode(message_batch(decode_batch(document.body), document.created_at)))


def _lines(body: bytes, lines_max: int) -> bytes:
    """The same as a file of lines; a large body takes a while."""
    requests = decode(_fields, body).requests
    if len(requests) > lines_max:
        raise InvalidField(f"requests: {len(requests)} requests; the limit is {lines_max}.", param="requests")
    seen: set[str] = set()
    for number, one in enumerate(requests):
        if one.custom_id in seen:
            path = f"requests[{number}].custom_id"
            raise InvalidField(f"{path}: {one.custom_id!r} is that of another request, too.", param=path)
        seen.add(one.custom_id)
    return b"".join(
        b'{"custom_id":%b,"method":"POST","url":"%b","body":%b}\n'
        % (encode(one.custom_id), MESSAGES.encode(), one_line(bytes(one.params)))
        for one in requests
    )
