"""Batches: /v1/batches. A worker writes down what is wanted; the supervisor sees it through."""

import re
import secrets
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.batches import file_object
from heterodyne.batches.batch import (
    KIND,
    OPENAI_API,
    Batch,
    decode_batch,
    encode_batch,
    openai_batch,
    work_document,
)
from heterodyne.batches.lines import ENDPOINTS
from heterodyne.domain.errors import InvalidField, StoreUnavailable
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.dialects.responses_fields import Metadata
from heterodyne.gateway.forms.responses_words import new_id
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.documents import Documents, unknown
from heterodyne.gateway.stored.pages import ListQuery, body_of, encode, id_in, listed, shown
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.ports.document_store import Document
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
TRIES: Final = 5  # to change what others change
WINDOW: Final = re.compile(r"([1-9]\d{0,3})(m|h|d)")
UNIT_S: Final = {"m": 60.0, "h": 3600.0, "d": 86400.0}


class OutputExpiry(Struct, kw_only=True, forbid_unknown_fields=True):
    """Taken and not heeded: results are kept as long as everything else."""

    anchor: Literal["created_at"]
    seconds: Annotated[int, Meta(ge=3600, le=2592000)]


class BatchFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new batch."""

    input_file_id: str
    endpoint: str
    completion_window: str
    metadata: Metadata | None = None
    output_expires_after: OutputExpiry | None = None


_fields = msgspec.json.Decoder(BatchFields)


async def create(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/batches"""
    room.places.check_files(caller)
    fields = body_of(http, _fields)
    if fields.endpoint not in ENDPOINTS:
        raise InvalidField(f"endpoint: one of {', '.join(ENDPOINTS)} is expected.", param="endpoint")
    file = await room.documents.try_get(caller.project, file_object.KIND, fields.input_file_id)
    if file is None or file_object.file_object(file).purpose != file_object.BATCH:
        raise InvalidField(
            f"input_file_id: there is no file {fields.input_file_id[:100]!r} of the purpose {file_object.BATCH!r}.",
            param="input_file_id",
        )
    now = room.documents.wall_clock()
    batch = Batch(
        id=new_id("batch"),
        project=caller.project,
        key=caller.key,
        endpoint=fields.endpoint,
        input_file=fields.input_file_id,
        output_file=new_batch_file(),
        error_file=new_batch_file(),
        window=fields.completion_window,
        expires_at=now + window_s(fields.completion_window, room.documents.window_max_s),
        metadata=fields.metadata,
    )
    return shown(encode(openai_batch(batch, (await add_batch(room.documents, batch)).created_at)))


async def add_batch(documents: Documents, batch: Batch) -> Document:
    """So that a gateway finds it."""
    now, kept_until = documents.wall_clock(), documents.expires_at + documents.window_max_s
    document = batch.as_document(created_at=now, kept_until=kept_until)
    await documents.add_all([document, work_document(batch, created_at=now, kept_until=kept_until)])
    return document


async def batch(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/batches/{id}"""
    return _shown(await _found(room.documents, caller.project, id_in(http, ID)))


async def batches(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/batches"""
    query = ListQuery(http, is_descending=True)
    found, has_more = await room.documents.page(
        caller.project, KIND, parent=OPENAI_API, after=query.after, limit=query.limit, is_descending=True
    )
    told = [encode(openai_batch(decode_batch(one.body), one.created_at)) for one in found]
    return listed(told, [one.id for one in found], has_more=has_more)


async def cancel(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/batches/{id}/cancel"""
    found = await _found(room.documents, caller.project, id_in(http, ID))
    return _shown(await cancelled(room.documents, caller.project, found.id))


async def cancelled(documents: Documents, project: str, id: str) -> Document:
    """One that is to be cancelled, or is over already."""
    for _ in range(TRIES):
        found = await documents.get(project, KIND, id)
        one = decode_batch(found.body)
        changed = one.cancelling(documents.wall_clock())
        if changed is one:
            return found
        body = encode_batch(changed)
        if await documents.replace(found, body):
            return msgspec.structs.replace(found, body=body)
    raise StoreUnavailable("The batch was changed at the same time; try again.", retry_after_s=1)


def new_batch_file() -> str:
    """The id of a file that is written at its end."""
    return file_object.file_id(secrets.token_bytes(file_object.ID_BYTES))


def window_s(asked: str, longest_s: float) -> float:
    """A completion window in seconds."""
    found = WINDOW.fullmatch(asked)
    seconds = int(found[1]) * UNIT_S[found[2]] if found is not None else 0.0
    if not 0.0 < seconds <= longest_s:
        raise InvalidField(
            f"completion_window: such as 30m, 24h or 7d is expected, up to {longest_s / 3600:.0f}h.",
            param="completion_window",
        )
    return seconds


async def _found(documents: Documents, project: str, id: str) -> Document:
    found = await documents.get(project, KIND, id)
    if found.parent != OPENAI_API:
        raise unknown(KIND, id)
    return found


def _shown(document: Document) -> PageResponse:
    return shown(encode(openai_batch(decode_batch(document.body), document.created_at)))
