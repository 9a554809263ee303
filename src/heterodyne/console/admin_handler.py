"""What the admin port does with a request: without a key only a small body is taken, the application answers, and a
refusal of what never became a request looks like any other."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from heterodyne.console.guard import BODY_BYTES_MAX, Guard
from heterodyne.console.render import error_answer
from heterodyne.console.security_headers import SECURITY_HEADERS
from heterodyne.domain.errors import HeterodyneError, InternalError, MethodNotAllowed
from heterodyne.telemetry import log
from heterodyne.wire import asgi
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.server_connection import ServerConnection

HEADERS = tuple((name.encode(), value.encode()) for name, value in SECURITY_HEADERS)
SMALL_BODY = HeadCheck(body_bytes_max=BODY_BYTES_MAX)

_log = log.get("console")


class AdminHandler:
    """Of all connections of one admin port; each request is a task."""

    def __init__(self, app: ASGIApp, guard: Guard, requests: asyncio.TaskGroup) -> None:
        self._app = app
        self._guard = guard
        self._requests = requests
        self._tasks: set[asyncio.Task[None]] = set()

    def check_head(self, request: HttpRequest, connection: ServerConnection) -> HeadCheck:
        """Without a key or a session a body is at most as large as signing in takes; the endpoints check again."""
        length = int(request.headers.get(b"content-length", 0))
        is_chunked = b"transfer-encoding" in request.headers
        if length <= BODY_BYTES_MAX and not is_chunked:
            return SMALL_BODY
        try:
            self._guard.identify(Request(asgi.scope_of(request, connection)))
        except HeterodyneError as error:
            error.__traceback__ = error.__context__ = error.__cause__ = None  # it is kept with the request
            return SMALL_BODY if is_chunked else HeadCheck(refusal=error, body_bytes_max=0)
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> asgi.AsgiResponder | None:
        """The application's turn, or a refusal."""
        check = request.head_check
        if check is not None and check.refusal is not None:
            self._answer(error_answer(check.refusal), connection, is_head=request.method == b"HEAD")
            return None
        responder = asgi.AsgiResponder(request, connection, HEADERS)
        task = self._requests.create_task(self._run(responder, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return responder

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        """Bytes that never became a request."""
        response = error_answer(error)
        if isinstance(error, MethodNotAllowed):
            response.headers["allow"] = error.allow
        self._answer(response, connection)

    def close(self) -> None:
        """Cancel what is still being answered."""
        for task in self._tasks:
            task.cancel()

    async def _run(self, responder: asgi.AsgiResponder, connection: ServerConnection) -> None:
        try:
            has_answered = await responder.run(self._app)
        except Exception as error:  # noqa: BLE001  # the root of a request
            _log.error("admin_request_failed", exc_info=error)
            has_answered = responder.settle()
        if not has_answered:
            self._answer(error_answer(InternalError("An internal error; the log has the details.")), connection)

    def _answer(self, response: Response, connection: ServerConnection, *, is_head: bool = False) -> None:
        headers = (*response.raw_headers, *HEADERS)
        head = asgi.head(response.status_code, headers, keeps_alive=connection.keeps_alive)
        connection.finish(head if is_head else head + bytes(response.body))
