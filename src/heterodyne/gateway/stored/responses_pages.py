"""Responses that were kept: /v1/responses/{id} and what it was asked."""

from typing import Final

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.forms.responses_kept import KIND
from heterodyne.gateway.pages import PageResponse
from heterodyne.gateway.stored.documents import Documents
from heterodyne.gateway.stored.keeper import item_id
from heterodyne.gateway.stored.pages import ListQuery, deleted, id_in, shown
from heterodyne.gateway.stored.recall import items_of
from heterodyne.gateway.stored.running import as_it_stands, changed, decode_stored, is_background, is_running
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
TRIES: Final = 3  # to change what others change


async def response(documents: Documents, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/responses/{id}"""
    if b"stream=true" in http.query.split(b"&"):
        raise InvalidField("stream: a response that was kept is told at once.", param="stream")
    found = await documents.get(caller.project, KIND, id_in(http, ID))
    return shown(as_it_stands(found, documents.wall_clock()))


async def cancel_response(documents: Documents, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/responses/{id}/cancel: of one that runs in the background; the worker that runs it hears of it soon."""
    id = id_in(http, ID)
    for _ in range(TRIES):
        found = await documents.get(caller.project, KIND, id)
        if not is_background(found):
            raise InvalidField("Only what runs in the background can be cancelled.", param=None)
        if not is_running(found):
            break
        cancelled = changed(found, status="cancelled")
        if await documents.replace(found, cancelled):
            return shown(bytes(decode_stored(cancelled).response))
    return shown(as_it_stands(found, documents.wall_clock()))


async def delete_response(documents: Documents, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/responses/{id}: those that follow it cannot be followed any more."""
    id = id_in(http, ID)
    await documents.delete(caller.project, KIND, id)
    return deleted(id, "response")


async def input_items(documents: Documents, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/responses/{id}/input_items: all that the model was shown, what was followed included."""
    query, id = ListQuery(http, is_descending=True), id_in(http, ID)
    found = await documents.get(caller.project, KIND, id)
    chain = await documents.chain(caller.project, KIND, found.parent) if found.parent else ()
    items = [item for document in chain for item in items_of(document)]
    items += [bytes(item) for item in decode_stored(found.body).input]
    return query.listed([(item_id(item), item) for item in items])
