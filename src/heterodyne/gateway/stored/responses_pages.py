"""Responses that were kept: /v1/responses/{id} and what it was asked."""

from typing import Final
from urllib.parse import parse_qsl

from heterodyne.domain.errors import InvalidField, UnknownPath
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.forms.responses_kept import KIND
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.event_blocks import KIND as EVENTS
from heterodyne.gateway.stored.keeper import item_id
from heterodyne.gateway.stored.pages import ListQuery, deleted, id_in, shown
from heterodyne.gateway.stored.recall import items_of
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.gateway.stored.running import as_it_stands, changed, decode_stored, is_background, is_running
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
TRIES: Final = 3  # to change what others change
NUMBER_DIGITS_MAX: Final = 9


async def response(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/responses/{id}"""
    query = dict(parse_qsl(http.query.decode("ascii", "replace")))
    found = await room.documents.get(caller.project, KIND, id_in(http, ID))
    if query.get("stream") == "true":
        return room.background.follow(found, _number(query.get("starting_after")))
    return shown(as_it_stands(found, room.documents.wall_clock()))


async def cancel_response(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/responses/{id}/cancel: of one that runs in the background; the worker that runs it hears of it soon."""
    id = id_in(http, ID)
    for _ in range(TRIES):
        found = await room.documents.get(caller.project, KIND, id)
        if not is_background(found):
            raise InvalidField("Only what runs in the background can be cancelled.", param=None)
        if not is_running(found):
            break
        cancelled = changed(found, status="cancelled")
        if await room.documents.replace(found, cancelled):
            return shown(bytes(decode_stored(cancelled).response))
    return shown(as_it_stands(found, room.documents.wall_clock()))


async def delete_response(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/responses/{id}: those that follow it cannot be followed any more."""
    id = id_in(http, ID)
    await room.documents.delete(caller.project, KIND, id)
    await room.documents.delete_children(caller.project, EVENTS, id)
    return deleted(id, "response")


async def compact(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/responses/compact: OpenAI keeps what its models need to know of a conversation, which none here have."""
    raise UnknownPath(
        "/v1/responses/compact is not served: the models here have no state that could stand for turns. Send "
        "`truncation: auto`, or have a model sum up the conversation and go on from what it says."
    )


async def input_items(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/responses/{id}/input_items: all that the model was shown, what was followed included."""
    query, id = ListQuery(http, is_descending=True), id_in(http, ID)
    found = await room.documents.get(caller.project, KIND, id)
    chain = await room.documents.chain(caller.project, KIND, found.parent) if found.parent else ()
    items = [item for document in chain for item in items_of(document)]
    items += [bytes(item) for item in decode_stored(found.body).input]
    return query.listed([(item_id(item), item) for item in items])


def _number(asked: str | None) -> int:
    """Of the last event that its client has seen; -1: none."""
    if asked is None:
        return -1
    if not (asked.isascii() and asked.isdigit() and len(asked) <= NUMBER_DIGITS_MAX):
        raise InvalidField("starting_after: the number of an event is expected.", param="starting_after")
    return int(asked)
