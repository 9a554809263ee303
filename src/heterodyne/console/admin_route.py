"""One path of the admin API with its description, so that neither is without the other."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heterodyne.domain.errors import HeterodyneError

Endpoint = Callable[[Request], Awaitable[Response]]


class QueryWord(Struct, frozen=True, kw_only=True):
    """A parameter in the query of a URL."""

    name: str
    description: str
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "string"})


class AdminRoute(Struct, frozen=True, kw_only=True):
    """A method of a path."""

    method: str
    path: str
    endpoint: Endpoint
    summary: str
    answer: type[Struct]  # of a stream of events: what is in one
    body: type[Struct] | None = None  # None: it takes none
    query: tuple[QueryWord, ...] = ()
    raises: tuple[type[HeterodyneError], ...] = ()  # beside what every endpoint of its kind may
    is_open: bool = False  # no key is asked for
    is_stream: bool = False  # its answer is a stream of events

    def starlette(self) -> Route:
        """For the application."""
        return Route(self.path, self.endpoint, methods=[self.method])
