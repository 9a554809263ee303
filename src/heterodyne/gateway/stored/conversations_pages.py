"""Conversations: items that several responses share, whoever added them."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.errors import InvalidField, StoreUnavailable
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.dialects.body import decode
from heterodyne.gateway.dialects.responses_fields import InputItem, Metadata
from heterodyne.gateway.forms.responses_kept import named_item
from heterodyne.gateway.forms.responses_words import new_id
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.documents import unknown
from heterodyne.gateway.stored.keeper import ITEM, item_id
from heterodyne.gateway.stored.pages import ListQuery, body_of, deleted, encode, id_in, listed, shown
from heterodyne.gateway.stored.recall import CONVERSATION
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
ITEM_ID: Final = 4
ITEMS_AT_ONCE_MAX: Final = 20


class ConversationFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """A new conversation."""

    items: list[Raw] | None = None
    metadata: Metadata | None = None


class ConversationChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """What may be changed of one."""

    metadata: Metadata | None = None


class NewItems(Struct, kw_only=True, forbid_unknown_fields=True):
    """Items to add."""

    items: Annotated[list[Raw], Meta(min_length=1)]


_fields = msgspec.json.Decoder(ConversationFields)
_change = msgspec.json.Decoder(ConversationChange)
_new_items = msgspec.json.Decoder(NewItems)
_item = msgspec.json.Decoder(InputItem)


async def create(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/conversations"""
    room.places.check_documents(caller)
    fields = body_of(http, _fields)
    items = _named(fields.items or [])
    id = new_id("conv")
    body = _conversation(id, int(room.documents.wall_clock()), fields.metadata)
    await room.documents.add(caller.project, kind=CONVERSATION, id=id, body=body)
    if items:
        await room.documents.append(caller.project, id, ITEM, items)
    return shown(body)


async def conversation(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/conversations/{id}"""
    return shown((await room.documents.get(caller.project, CONVERSATION, id_in(http, ID))).body)


async def update(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/conversations/{id}: other metadata."""
    room.places.check_documents(caller)
    change = body_of(http, _change)
    found = await room.documents.get(caller.project, CONVERSATION, id_in(http, ID))
    body = _conversation(found.id, int(found.created_at), change.metadata)
    if not await room.documents.replace(found, body):
        raise StoreUnavailable("The conversation was changed at the same time; try again.", retry_after_s=1)
    return shown(body)


async def delete(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/conversations/{id}, and its items."""
    id = id_in(http, ID)
    await room.documents.delete(caller.project, CONVERSATION, id)
    await room.documents.delete_children(caller.project, ITEM, id)
    return deleted(id, "conversation.deleted")


async def add_items(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/conversations/{id}/items"""
    room.places.check_documents(caller)
    items, id = _named(body_of(http, _new_items).items), id_in(http, ID)
    if not await room.documents.append(caller.project, id, ITEM, items):
        raise unknown(CONVERSATION, id)
    return listed([item for _, item in items], [name for name, _ in items], has_more=False)


async def items(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/conversations/{id}/items"""
    query, id = ListQuery(http, is_descending=True), id_in(http, ID)
    await room.documents.get(caller.project, CONVERSATION, id)
    found, has_more = await room.documents.page(
        caller.project, ITEM, parent=id, after=query.after, limit=query.limit, is_descending=query.is_descending
    )
    return listed([one.body for one in found], [one.id for one in found], has_more=has_more)


async def item(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/conversations/{id}/items/{item}"""
    found = await room.documents.get(caller.project, ITEM, id_in(http, ITEM_ID))
    if found.parent != id_in(http, ID):
        raise unknown(ITEM, found.id)
    return shown(found.body)


async def delete_item(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/conversations/{id}/items/{item}: the conversation goes on without it."""
    await item(room, http, caller)
    await room.documents.delete(caller.project, ITEM, id_in(http, ITEM_ID))
    return await conversation(room, http, caller)


def _conversation(id: str, created_at: int, metadata: dict[str, str] | None) -> bytes:
    return encode({"id": id, "object": CONVERSATION, "created_at": created_at, "metadata": metadata or {}})


def _named(items: list[Raw]) -> list[tuple[str, bytes]]:
    if len(items) > ITEMS_AT_ONCE_MAX:
        raise InvalidField(f"items: {len(items)} items; the limit is {ITEMS_AT_ONCE_MAX}.", param="items")
    found = []
    for number, one in enumerate(items):
        try:
            decode(_item, one)
        except InvalidField as error:
            path = f"items[{number}].{error.param}" if error.param else f"items[{number}]"
            raise InvalidField(f"items[{number}].{error.message}", param=path) from error
        body = named_item(bytes(one))
        found.append((item_id(body), body))
    return found
