"""The API: which path is answered by what. Authorisation belongs to the route, never to the spelling of a path."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from heterodyne.domain.request import Request
from heterodyne.gateway import pages
from heterodyne.gateway.dialects import chat, completion, embedding, tokenization
from heterodyne.gateway.settings import GatewaySettings

if TYPE_CHECKING:
    from heterodyne.gateway.door import Door
    from heterodyne.wire.message import HttpRequest

Reader = Callable[[bytes, str, float, GatewaySettings], Request]
Page = Callable[["Door", "HttpRequest"], pages.Answer]


class Route(Struct, frozen=True, kw_only=True):
    """One path: either an inference call that is read into a request, or a page answered at once."""

    method: bytes
    read: Reader | None = None
    page: Page | None = None
    is_open: bool = False  # needs no key


ROUTES: dict[bytes, Route] = {
    b"/v1/chat/completions": Route(method=b"POST", read=chat.read),
    b"/v1/completions": Route(method=b"POST", read=completion.read),
    b"/v1/embeddings": Route(method=b"POST", read=embedding.read),
    b"/tokenize": Route(method=b"POST", read=tokenization.read_tokenize),
    b"/detokenize": Route(method=b"POST", read=tokenization.read_detokenize),
    b"/v1/models": Route(method=b"GET", page=pages.models),
    b"/health/live": Route(method=b"GET", page=pages.live, is_open=True),
    b"/health/ready": Route(method=b"GET", page=pages.ready, is_open=True),
    b"/metrics": Route(method=b"GET", page=pages.metrics, is_open=True),
    b"/openapi.json": Route(method=b"GET", page=pages.description, is_open=True),
}
MODEL_ROUTE = Route(method=b"GET", page=pages.model)  # /v1/models/{id}; ids may have slashes


def find(path: bytes) -> Route | None:
    """The route of a path."""
    route = ROUTES.get(path)
    if route is None and path.startswith(b"/v1/models/"):
        return MODEL_ROUTE
    return route
