"""One request through an ASGI application, on a connection with all the limits of the data port.

The body is whole when the application is asked; the answer may be streamed, and waits for a client that is slow.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from email.utils import formatdate
from typing import Any
from urllib.parse import unquote

from heterodyne.wire.message import HttpRequest, status_line
from heterodyne.wire.server_connection import ServerConnection

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

BODILESS = (204, 304)
CONTENT_LENGTH = b"content-length"


def scope_of(request: HttpRequest, connection: ServerConnection) -> Message:
    """The request as an application gets it."""
    raw_path = request.path.decode("ascii", "replace")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1" if request.speaks_chunked else "1.0",
        "server": connection.address,
        "client": connection.peer,
        "scheme": "http",
        "method": request.method.decode("ascii"),
        "root_path": "",
        "path": unquote(raw_path),
        "raw_path": request.path,
        "query_string": request.query,
        "headers": list(request.headers.items()),
    }


def head(status: int, headers: Headers, *, keeps_alive: bool, is_chunked: bool = False) -> bytes:
    """Status line and headers."""
    lines = [b"%b: %b\r\n" % field for field in headers]
    if any(line.count(b"\n") > 1 or line.count(b"\r") > 1 for line in lines):
        raise ValueError("a header has more than one line")
    if is_chunked:
        lines.append(b"transfer-encoding: chunked\r\n")
    if not keeps_alive:
        lines.append(b"connection: close\r\n")
    return b"%b%bdate: %b\r\n\r\n" % (status_line(status), b"".join(lines), formatdate(usegmt=True).encode())


class AsgiResponder:
    """Answers one request by what an application sends."""

    def __init__(
        self, request: HttpRequest, connection: ServerConnection, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        self._request = request
        self._connection = connection
        self._headers = headers  # of every answer
        self._start: Message | None = None
        self._has_head = False  # it is written
        self._is_chunked = False
        self._is_asked = False  # the application has the body
        self._is_over = asyncio.Event()  # the answer is complete, or the client has gone
        self._is_ready = asyncio.Event()  # the client takes what is written
        self._is_ready.set()

    async def run(self, application: Application) -> bool:
        """Whether an answer was sent, or begun; what is begun and not completed ends with the connection."""
        await application(scope_of(self._request, self._connection), self._receive, self._send)
        return self.settle()

    def settle(self) -> bool:
        """Nothing more comes from the application; False where there is no answer yet."""
        if self._has_head and not self._is_over.is_set():
            self._connection.abort()
        return self._has_head or self._is_over.is_set()

    # Called by the connection.

    def client_gone(self) -> None:
        self._is_over.set()
        self._is_ready.set()

    def client_slow(self) -> None:
        self._is_ready.clear()

    def client_ready(self) -> None:
        self._is_ready.set()

    # Called by the application.

    async def _receive(self) -> Message:
        if not self._is_asked:
            self._is_asked = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await self._is_over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._is_over.is_set():
            return
        if message["type"] == "http.response.start":
            self._start = message
            return
        assert self._start is not None, "an answer begins with its head"
        body, has_more = message.get("body", b""), message.get("more_body", False)
        if not self._has_head:
            self._begin(self._start, body, has_more)
        elif body and not self._is_bodiless:
            self._write(body)
        if not has_more:
            self._complete()
        elif not self._is_ready.is_set():
            await self._is_ready.wait()

    @property
    def _is_bodiless(self) -> bool:
        assert self._start is not None
        return self._request.method == b"HEAD" or self._start["status"] in BODILESS

    def _begin(self, start: Message, body: bytes, has_more: bool) -> None:
        connection = self._connection
        headers = [*start.get("headers", ()), *self._headers]
        has_length = any(name.lower() == CONTENT_LENGTH for name, _ in headers)
        if not has_length and not has_more and start["status"] not in BODILESS:
            headers.append((CONTENT_LENGTH, b"%d" % len(body)))
            has_length = True
        self._is_chunked = not has_length and not self._is_bodiless and connection.speaks_chunked
        keeps_alive = connection.keeps_alive
        first = head(start["status"], headers, keeps_alive=keeps_alive, is_chunked=self._is_chunked)
        self._has_head = True
        connection.write(first)
        if body and not self._is_bodiless:
            self._write(body)

    def _write(self, body: bytes) -> None:
        if self._is_chunked:
            self._connection.write_payload(body)
        else:
            self._connection.write(body)

    def _complete(self) -> None:
        self._is_over.set()
        if self._is_chunked:
            self._connection.finish_stream()
        else:
            self._connection.finish()
