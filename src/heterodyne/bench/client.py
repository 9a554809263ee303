"""A pool of keep-alive connections to the one server under test."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable

from heterodyne.bench.connection import Connection
from heterodyne.bench.endpoint import Endpoint
from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.response_reader import ResponseReader
from heterodyne.bench.unparsed import UnparsedPieces
from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import SettingsInvalid


class Client:
    """As many connections as there are requests in flight; idle ones are used again, the warmest first."""

    def __init__(self, endpoint: Endpoint, *, clock: Callable[[], float]) -> None:
        self.endpoint = endpoint
        self._unparsed = UnparsedPieces(clock)
        self._tls = _tls_context(endpoint)
        self._idle: deque[Connection] = deque()

    async def exchange(self, request: bytes, answer: ResponseReader, *, timeout_s: float) -> None:
        """One request and its answer; raises ExchangeFailed."""
        try:
            async with deadline(timeout_s):
                await self._exchange(request, answer)
        except TimeoutError as error:
            raise ExchangeFailed(BenchFailure.TIMEOUT, f"no whole answer in {timeout_s:.1f} s") from error

    def close(self) -> None:
        """Close the idle connections; those in use close with their tasks."""
        while self._idle:
            self._idle.pop().abort()

    async def _exchange(self, request: bytes, answer: ResponseReader) -> None:
        # The server may close an idle connection at the moment we write on it. Nothing was answered, so the
        # request is sent once more, on a connection of its own.
        while (connection := self._try_idle()) is not None:
            try:
                return await self._use(connection, request, answer)
            except ExchangeFailed as failed:
                if failed.failure is not BenchFailure.CLOSED or connection.has_begun:
                    raise
        return await self._use(await self._connect(), request, answer)

    async def _use(self, connection: Connection, request: bytes, answer: ResponseReader) -> None:
        try:
            await connection.exchange(request, answer)
        finally:
            if connection.is_reusable:
                self._idle.append(connection)

    def _try_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable:
                return connection
        return None

    async def _connect(self) -> Connection:
        endpoint = self.endpoint
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(self._unparsed),
                endpoint.host,
                endpoint.port,
                ssl=self._tls,
                server_hostname=endpoint.host if self._tls else None,
            )
        except ConnectionRefusedError as error:
            where = f"{endpoint.host}:{endpoint.port}"
            raise ExchangeFailed(BenchFailure.REFUSED, f"nobody listens on {where}") from error
        except OSError as error:
            raise ExchangeFailed(BenchFailure.UNREACHABLE, str(error)) from error
        return connection


def _tls_context(endpoint: Endpoint) -> ssl.SSLContext | None:
    if not endpoint.tls:
        return None
    try:
        return ssl.create_default_context(cafile=endpoint.ca_file)
    except OSError as error:
        raise SettingsInvalid(f"no certificates in {endpoint.ca_file!r}: {error}") from error
