"""One whole HTTP exchange as a coroutine, for callers that are not on the request path."""

import asyncio
from typing import NamedTuple

from heterodyne.domain.errors import EngineError, EngineGarbage, EngineStalled
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.connection_pool import Address, ConnectionPool

ANSWER_BYTES_MAX = 4 << 20


class Fetched(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes


async def get(pool: ConnectionPool, address: Address, path: str, *, timeout_s: float, headers: bytes = b"") -> Fetched:
    """GET a path; raises EngineError when there is no whole answer in time."""
    fetch = _Fetch()
    head = f"GET {path} HTTP/1.1\r\nhost: {address.host}:{address.port}\r\nconnection: close\r\n".encode()
    pool.lend(
        address, lambda connection: fetch.begin(connection, head + headers + b"\r\n"), fetch.on_failure, fresh=True
    )
    try:
        async with asyncio.timeout(timeout_s):
            return await fetch.done
    except TimeoutError:
        raise EngineStalled(f"No answer to {path} within {timeout_s:g} s.") from None
    finally:
        fetch.stop()


class _Fetch:
    """Listens to one answer and completes a future with it."""

    def __init__(self) -> None:
        self.done: asyncio.Future[Fetched] = asyncio.get_running_loop().create_future()
        self._connection: ClientConnection | None = None
        self._status = 0
        self._body = b""

    def begin(self, connection: ClientConnection, head: bytes) -> None:
        if self.done.done():
            connection.release()
            return
        self._connection = connection
        connection.send(self, head, b"")

    def stop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self._status = status

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > ANSWER_BYTES_MAX:
            self.on_failure(EngineGarbage("The answer is too large."))
            self.stop()

    def on_end(self) -> None:
        self.stop()  # one fetch a connection: they must not pile up among the idle ones
        if not self.done.done():
            self.done.set_result(Fetched(self._status, self._body))

    def on_failure(self, error: EngineError) -> None:
        self._connection = None
        if not self.done.done():
            self.done.set_exception(error)
