"""Clients that ask again and again: over connections that last, or over a new one for each request."""

import asyncio
import ssl
import time
from collections.abc import Callable

from msgspec import Struct

CONNECT_S = 10.0


class Asked(Struct, frozen=True, kw_only=True):
    """What came of it."""

    requests: int
    failures: int


class Client(Struct, frozen=True, kw_only=True):
    """How requests are sent."""

    port: int
    tls: Callable[[], ssl.SSLContext] | None  # a new one for each client: sessions are kept by context
    request: bytes
    is_lasting: bool
    clients: int

    async def ask(self, seconds: float) -> Asked:
        """For so long, each of them one request after the other."""
        until_s = time.monotonic() + seconds
        requests = failures = 0

        async def one() -> None:
            nonlocal requests, failures
            tls = None if self.tls is None else self.tls()
            streams = await self._connect(tls) if self.is_lasting else None
            while time.monotonic() < until_s:
                reader, writer = streams or await self._connect(tls)
                writer.write(self.request)
                failures += not await _is_answered(reader)
                requests += 1
                if streams is None:
                    writer.close()
            if streams is not None:
                streams[1].close()

        async with asyncio.TaskGroup() as group:
            for _ in range(self.clients):
                group.create_task(one())
        return Asked(requests=requests, failures=failures)

    async def _connect(self, tls: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with asyncio.timeout(CONNECT_S):
            return await asyncio.open_connection("127.0.0.1", self.port, ssl=tls)


async def _is_answered(reader: asyncio.StreamReader) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    if b"content-length: " in head:
        await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
    else:
        await reader.readuntil(b"0\r\n\r\n")
    return head.startswith(b"HTTP/1.1 200 ")
