"""TLS before a server that speaks none, as a mesh's sidecar is."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def tls_front(port: int, context: ssl.SSLContext) -> AsyncIterator[int]:
    """Another port of this machine, whose connections end at the first one."""
    open_ones: set[asyncio.StreamWriter] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(1 << 16):
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", port)
        open_ones.update((writer, behind_writer))
        async with asyncio.TaskGroup() as group:
            group.create_task(pass_on(reader, behind_writer))
            group.create_task(pass_on(behind_reader, writer))

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in open_ones:
            writer.close()
