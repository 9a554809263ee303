"""A listener that takes connections and drops each of them at once: an engine that is just dying."""

import asyncio
from typing import Self


class DroppingServer:
    """Counts the connections it drops."""

    def __init__(self) -> None:
        self.connections_dropped = 0
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self, port: int = 0) -> None:
        """Listen."""
        self._server = await asyncio.get_running_loop().create_server(lambda: _Dropped(self), "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Dropped(asyncio.Protocol):
    def __init__(self, server: DroppingServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server.connections_dropped += 1
        transport.abort()  # type: ignore[attr-defined]  # a server's transports write, and can be cut
