"""The paths of files and batches."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.route import API_KEY, Route, StoredPage
from heterodyne.gateway.stored import batch_pages, file_pages, message_batch_pages
from heterodyne.gateway.stored.files.files import LONGEST_S

BATCHED: Final = (b"/v1/files/", b"/v1/batches/", b"/v1/messages/batches/")

BATCHES_ROUTE: Final = Route(
    method=b"POST",
    stored_page=batch_pages.create,
    also={b"GET": Route(method=b"GET", stored_page=batch_pages.batches)},
)
BATCH_ROUTE: Final = Route(method=b"GET", stored_page=batch_pages.batch)
CANCEL_BATCH_ROUTE: Final = Route(method=b"POST", stored_page=batch_pages.cancel)
FILES_ROUTE: Final = Route(
    method=b"GET",
    stored_page=file_pages.listing,
    also={b"POST": Route(method=b"POST", stored_page=file_pages.create, is_upload=True, longest_s=LONGEST_S)},
)
FILE_ROUTE: Final = Route(
    method=b"GET",
    stored_page=file_pages.file,
    also={b"DELETE": Route(method=b"DELETE", stored_page=file_pages.delete)},
)
CONTENT_ROUTE: Final = Route(method=b"GET", stored_page=file_pages.content)


def _of_anthropic(method: bytes, page: StoredPage, also: Mapping[bytes, Route] = MappingProxyType({})) -> Route:
    return Route(method=method, stored_page=page, also=also, form=ANTHROPIC, key_headers=(API_KEY,))


MESSAGE_BATCHES_ROUTE: Final = _of_anthropic(
    b"POST", message_batch_pages.create, {b"GET": _of_anthropic(b"GET", message_batch_pages.batches)}
)
MESSAGE_BATCH_ROUTE: Final = _of_anthropic(
    b"GET", message_batch_pages.batch, {b"DELETE": _of_anthropic(b"DELETE", message_batch_pages.delete)}
)
CANCEL_MESSAGE_BATCH_ROUTE: Final = _of_anthropic(b"POST", message_batch_pages.cancel)
MESSAGE_RESULTS_ROUTE: Final = _of_anthropic(b"GET", message_batch_pages.results)


def find_batched(path: bytes) -> Route | None:
    """The route of a path below `BATCHED`."""
    match path.split(b"/")[2:]:
        case [b"batches", id] if id:
            return BATCH_ROUTE
        case [b"batches", id, b"cancel"] if id:
            return CANCEL_BATCH_ROUTE
        case [b"messages", b"batches", id] if id:
            return MESSAGE_BATCH_ROUTE
        case [b"messages", b"batches", id, b"cancel"] if id:
            return CANCEL_MESSAGE_BATCH_ROUTE
        case [b"messages", b"batches", id, b"results"] if id:
            return MESSAGE_RESULTS_ROUTE
        case [b"files", id] if id:
            return FILE_ROUTE
        case [b"files", id, b"content"] if id:
            return CONTENT_ROUTE
    return None
