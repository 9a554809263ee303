"""The pages of files: /v1/files."""

from functools import partial
from typing import Final

from heterodyne.batches.file_object import KIND
from heterodyne.domain.tenant import Caller
from heterodyne.gateway.pages import PageResponse, PageRest
from heterodyne.gateway.stored.files.files import Files
from heterodyne.gateway.stored.files.upload import Upload
from heterodyne.gateway.stored.pages import ListQuery, deleted, id_in, listed, shown
from heterodyne.wire.message import HttpRequest

ID: Final = 2  # its place in the path
LIMIT: Final = 10_000
BYTES: Final = b"content-type: application/octet-stream\r\n"


async def create(files: Files, http: HttpRequest, caller: Caller) -> PageResponse:
    """POST /v1/files: the body is on the disk by now."""
    assert http.head_check is not None
    upload = http.head_check.body_sink
    assert isinstance(upload, Upload)
    return shown((await files.keep(caller.project, upload.finish())).body)


async def listing(files: Files, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files: of one purpose, where the query says so."""
    query = ListQuery(http, is_descending=True, limit=LIMIT, limit_max=LIMIT)
    found, has_more = await files.documents.page(
        caller.project,
        KIND,
        parent=query.members.get("purpose"),
        after=query.after,
        limit=query.limit,
        is_descending=query.is_descending,
    )
    return listed([one.body for one in found], [one.id for one in found], has_more=has_more)


async def file(files: Files, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files/{id}"""
    return shown((await files.documents.get(caller.project, KIND, id_in(http, ID))).body)


async def delete(files: Files, http: HttpRequest, caller: Caller) -> PageResponse:
    """DELETE /v1/files/{id}"""
    id = id_in(http, ID)
    await files.delete(caller.project, id)
    return deleted(id, KIND)


async def content(files: Files, http: HttpRequest, caller: Caller) -> PageResponse:
    """GET /v1/files/{id}/content"""
    download = await files.open(caller.project, id_in(http, ID))
    return PageResponse(200, BYTES, b"", PageRest(download.size_bytes, partial(files.send, download)))
