"""The pages of files: /v1/files."""

from functools import partial
from typing import Final

from heterodyne.batches.file_object import KIND
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.pages import PageResponse, PageRest
from heterodyne.gateway.stored.files.upload import Upload
from heterodyne.gateway.stored.pages import ListQuery, deleted, id_in, listed, shown
from heterodyne.gateway.stored.room import StoredRoom
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
LIMIT: Final = 10_000
BYTES: Final = b"content-type: application/octet-stream\r\n"


async def create(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/files: the body is on the disk by now."""
    assert http.head_check is not None
    upload = http.head_check.body_sink
    assert isinstance(upload, Upload)
    return shown((await room.files.keep(caller.project, upload.finish())).body)


async def listing(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files: of one purpose, where the query says so."""
    query = ListQuery(http, is_descending=True, limit=LIMIT, limit_max=LIMIT)
    found, has_more = await room.documents.page(
        caller.project,
        KIND,
        parent=query.members.get("purpose"),
        after=query.after,
        limit=query.limit,
        is_descending=query.is_descending,
    )
    return listed([one.body for one in found], [one.id for one in found], has_more=has_more)


async def file(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files/{id}"""
    return shown((await room.documents.get(caller.project, KIND, id_in(http, ID))).body)


async def delete(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/files/{id}"""
    id = id_in(http, ID)
    await room.files.delete(caller.project, id)
    return deleted(id, KIND)


async def content(room: StoredRoom, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files/{id}/content"""
    download = await room.files.open(caller.project, id_in(http, ID))
    return PageResponse(200, BYTES, b"", PageRest(download.size_bytes, partial(room.files.send, download)))
