"""One whole HTTP exchange as a coroutine, for callers that are not on the request path."""

import asyncio
from typing import NamedTuple

from heterodyne.wire.address import Address
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import ResponseInvalid, ResponseStalled, WireError

ANSWER_BYTES_MAX = 4 << 20


class Fetched(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes


async def get(
    pool: ConnectionPool,
    address: Address,
    path: str,
    *,
    timeout_s: float,
    headers: bytes = b"",
    keeps_alive: bool = False,
) -> Fetched:
    """GET a path; raises WireError when there is no whole answer in time.

    `keeps_alive` takes an idle connection where there is one and leaves it open for the next; else the connection is
    new and ends with the answer.
    """
    head = _head("GET", address, path, headers, keeps_alive=keeps_alive)
    return await _fetch(pool, address, path, head, timeout_s=timeout_s, keeps_alive=keeps_alive)


async def post(
    pool: ConnectionPool,
    address: Address,
    path: str,
    body: bytes,
    *,
    timeout_s: float,
    headers: bytes = b"",
    keeps_alive: bool = False,
    media_type: str = "application/json",
) -> Fetched:
    """POST a body over a connection of its own, so that it is never sent twice; raises as `get` does.

    `keeps_alive` as there: what finds its connection closed is sent again, which does no harm where it only asks.
    """
    framing = f"content-type: {media_type}\r\ncontent-length: {len(body)}\r\n".encode()
    head = _head("POST", address, path, framing + headers, keeps_alive=keeps_alive)
    return await _fetch(pool, address, path, head + body, timeout_s=timeout_s, keeps_alive=keeps_alive)


async def merge_patch(
    pool: ConnectionPool, address: Address, path: str, body: bytes, *, timeout_s: float, headers: bytes = b""
) -> Fetched:
    """PATCH with the fields that change (RFC 7396), over a connection of its own; raises as `get` does."""
    framing = f"content-type: application/merge-patch+json\r\ncontent-length: {len(body)}\r\n".encode()
    head = _head("PATCH", address, path, framing + headers, keeps_alive=False)
    return await _fetch(pool, address, path, head + body, timeout_s=timeout_s, keeps_alive=False)


async def _fetch(
    pool: ConnectionPool, address: Address, path: str, request: bytes, *, timeout_s: float, keeps_alive: bool
) -> Fetched:
    loop = asyncio.get_running_loop()
    fetch = _Fetch(loop, pool, address, request, keeps_alive=keeps_alive)
    # A timer of our own costs a third of `asyncio.timeout`, which also has to distinguish cancellations.
    stalled = ResponseStalled("No answer to ", f"{path} within {timeout_s:g} s.")
    timer = loop.call_later(timeout_s, fetch.on_failure, stalled)
    try:
        fetch.start()
        return await fetch.done
    finally:
        timer.cancel()
        fetch.stop()


def _head(method: str, address: Address, path: str, headers: bytes, *, keeps_alive: bool) -> bytes:
    ending = "" if keeps_alive else "connection: close\r\n"
    return f"{method} {path} HTTP/1.1\r\nhost: {address.authority}\r\n{ending}".encode() + headers + b"\r\n"


class _Fetch:
    """Listens to one answer and completes a future with it."""

    __slots__ = (
        "_address",
        "_bytes",
        "_connection",
        "_is_reused",
        "_keeps_alive",
        "_pieces",
        "_pool",
        "_request",
        "_status",
        "done",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pool: ConnectionPool,
        address: Address,
        request: bytes,
        *,
        keeps_alive: bool,
    ) -> None:
        self.done: asyncio.Future[Fetched] = loop.create_future()
        self._pool = pool
        self._address = address
        self._request = request
        self._keeps_alive = keeps_alive
        self._is_reused = False
        self._connection: ClientConnection | None = None
        self._status = 0
        self._pieces: list[bytes] = []
        self._bytes = 0  # of the pieces

    def start(self) -> None:
        self._pool.lend(self._address, self._begin, self.on_failure, fresh=not self._keeps_alive)

    def stop(self) -> None:
        """The answer is not wanted, or not wanted any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self._status = status

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        self._pieces.append(data)
        self._bytes += len(data)
        if self._bytes > ANSWER_BYTES_MAX:
            self.stop()
            self._fail(ResponseInvalid("The answer is too large."))

    def on_end(self) -> None:
        if self._keeps_alive:
            self._connection = None  # it has gone back to its pool
        else:
            self.stop()  # one fetch a connection: they must not pile up among the idle ones
        if not self.done.done():
            self.done.set_result(Fetched(self._status, b"".join(self._pieces)))

    def on_failure(self, error: WireError) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and connection.listener is self:
            connection.cancel()  # it is we who have waited long enough
        elif self._is_reused and connection is not None and not connection.has_answered:
            # A server may close an idle connection at any time, also while a request is on its way.
            self._is_reused = False
            self._pool.lend(self._address, self._begin, self.on_failure, fresh=True)
            return
        self._fail(error)

    def _begin(self, connection: ClientConnection) -> None:
        if self.done.done():
            connection.cancel()
            return
        self._connection = connection
        self._is_reused = connection.requests_sent > 0
        connection.send(self, self._request, b"")

    def _fail(self, error: WireError) -> None:
        if not self.done.done():
            self.done.set_exception(error)
