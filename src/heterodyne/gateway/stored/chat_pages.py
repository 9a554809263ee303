"""Chat completions that were kept: /v1/chat/completions/{id} and their list."""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.dialects.responses_fields import Metadata
from heterodyne.gateway.forms.stored_chat import KIND
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.pages import ListQuery, body_of, deleted, encode, id_in, listed, shown
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.ports.document_store import Document
from heterodyne.wire.message import HttpRequest

ID: Final = 3  # its place in the path
LOOKED_AT_MAX: Final = 1000  # completions, to find those that a list wants
LOOKED_AT_ONCE: Final = 100


class KeptCompletion(Struct):
    """A completion as it is kept."""

    completion: dict[str, Any]
    messages: list[Raw] = []


class CompletionChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be changed of one."""

    metadata: Metadata | None = None


_kept = msgspec.json.Decoder(KeptCompletion)
_change = msgspec.json.Decoder(CompletionChange)


async def completions(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/chat/completions: of one model or with some metadata, where the query says so."""
    query = ListQuery(http, is_descending=False)
    found: list[tuple[str, bytes]] = []
    after, looked_at, has_more = query.after, 0, True
    while has_more and len(found) <= query.limit and looked_at < LOOKED_AT_MAX:
        page, has_more = await room.documents.page(
            caller.project,
            KIND,
            parent=None,
            after=after,
            limit=LOOKED_AT_ONCE,
            is_descending=query.is_descending,
        )
        looked_at += len(page)
        after = page[-1].id if page else after
        found += [(one.id, encode(told)) for one in page if _is_wanted(told := _completion(one), query)]
    shown_now = found[: query.limit]
    has_more = len(found) > query.limit or has_more
    return listed([body for _, body in shown_now], [name for name, _ in shown_now], has_more=has_more)


async def completion(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/chat/completions/{id}"""
    return shown(encode(_completion(await room.documents.get(caller.project, KIND, id_in(http, ID)))))


async def update(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/chat/completions/{id}: other metadata."""
    room.places.check_documents(caller)
    change = body_of(http, _change)
    found = await room.documents.get(caller.project, KIND, id_in(http, ID))
    kept = _kept.decode(found.body)
    kept.completion["metadata"] = change.metadata or {}
    if not await room.documents.replace(found, encode(kept)):
        raise StoreUnavailable("The completion was changed at the same time; try again.", retry_after_s=1)
    return shown(encode(kept.completion))


async def delete(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/chat/completions/{id}"""
    id = id_in(http, ID)
    await room.documents.delete(caller.project, KIND, id)
    return deleted(id, "chat.completion.deleted")


async def messages(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/chat/completions/{id}/messages: what was asked."""
    query = ListQuery(http, is_descending=False)
    found = await room.documents.get(caller.project, KIND, id_in(http, ID))
    told = []
    for number, message in enumerate(_kept.decode(found.body).messages):
        name = f"{found.id}-{number}"
        told.append((name, encode({"id": name, **msgspec.json.decode(message)})))
    return query.listed(told)


def _completion(document: Document) -> dict[str, Any]:
    return _kept.decode(document.body).completion


def _is_wanted(completion: dict[str, Any], query: ListQuery) -> bool:
    model = query.members.get("model")
    if model is not None and completion.get("model") != model:
        return False
    metadata = completion.get("metadata") or {}
    wanted = {
        name.removeprefix("metadata[").removesuffix("]"): value
        for name, value in query.members.items()
        if name.startswith("metadata[")
    }
    return all(metadata.get(name) == value for name, value in wanted.items())
