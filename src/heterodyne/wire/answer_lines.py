"""An answer without an end, as a watch or a feed has it, line by line; for callers that are not on the request path."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from heterodyne.concurrency.deadline import deadline
from heterodyne.wire.address import Address
from heterodyne.wire.chunks import unframe
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import ResponseInvalid, ResponseStalled, WireError

LINE_BYTES_MAX = 4 << 20
WAITING_BYTES_MAX = 4 << 20  # read and not taken; at more the server waits


class AnswerLines:
    """One answer to one GET, over a connection of its own; closed when it is left.

    async with AnswerLines(pool, address, path, headers, idle_timeout_s=60) as answer:
        status = await answer.status()
        async for line in answer: ...
    """

    def __init__(
        self, pool: ConnectionPool, address: Address, path: str, headers: bytes, *, idle_timeout_s: float
    ) -> None:
        self._pool = pool
        self._address = address
        self._path = path
        self._request = f"GET {path} HTTP/1.1\r\nhost: {address.authority}\r\n".encode() + headers + b"\r\n"
        self._idle_timeout_s = idle_timeout_s
        self._connection: ClientConnection | None = None
        self._status: int | None = None
        self._unfinished = bytearray()
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_closed = False
        self._is_ended = False
        self._error: WireError | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> "AnswerLines":
        self._pool.lend(self._address, self._begin, self.on_failure, fresh=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()

    async def status(self) -> int:
        """That of its head; raises WireError where none comes in time."""
        while self._status is None:
            await self._wait()
        return self._status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Whole lines as they come, to the end of the answer; raises WireError where it breaks or stalls."""
        while True:
            while self._lines:
                line = self._lines.popleft()
                self._waiting_bytes -= len(line)
                if self._connection is not None and self._waiting_bytes < WAITING_BYTES_MAX:
                    self._connection.resume()
                yield line
            if self._is_ended:
                return
            await self._wait()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._changed.clear()
        try:
            async with deadline(self._idle_timeout_s):
                await self._changed.wait()
        except TimeoutError as error:
            raise ResponseStalled("Nothing of ", f"{self._path} within {self._idle_timeout_s:g} s.") from error

    # Called by the connection.

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self._status = status
        self._changed.set()

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.on_payload(unframe(data))

    def on_payload(self, data: bytes) -> None:
        self._unfinished += data
        if b"\n" in data:
            *lines, rest = bytes(self._unfinished).split(b"\n")
            self._unfinished = bytearray(rest)
            self._take(lines)
        if len(self._unfinished) > LINE_BYTES_MAX:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.cancel()
            self.on_failure(ResponseInvalid("A line of the answer is too long."))
        elif self._waiting_bytes >= WAITING_BYTES_MAX and self._connection is not None:
            self._connection.pause()

    def on_end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.cancel()  # one answer a connection: they must not pile up among the idle ones
        self._take([bytes(self._unfinished)])
        self._is_ended = True
        self._changed.set()

    def on_failure(self, error: WireError) -> None:
        self._connection = None
        self._error = error
        self._changed.set()

    def _begin(self, connection: ClientConnection) -> None:
        if self._is_closed:
            connection.cancel()
            return
        self._connection = connection
        connection.send(self, self._request, b"")

    def _take(self, lines: list[bytes]) -> None:
        for line in lines:
            if line.strip():
                self._lines.append(line)
                self._waiting_bytes += len(line)
        self._changed.set()
