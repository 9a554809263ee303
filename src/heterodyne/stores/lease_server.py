"""A unix socket on which the supervisor lends to its workers from one source, so that their limits are exact together.

A worker whose connection ends is gone: what it ran is over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import LeaseCall, LeaseSource
from heterodyne.stores.lease_wire import frame, read_frame
from heterodyne.telemetry import log
from heterodyne.wire.unix_listener import bound

BACKLOG = 128
WRITE_TIMEOUT_S = 5.0
UNAVAILABLE = b""  # the answer when the source itself cannot be reached

_log = log.get("stores")
_decode = msgspec.msgpack.Decoder(LeaseCall).decode
_encode = msgspec.msgpack.Encoder().encode


@asynccontextmanager
async def lending(path: Path, source: LeaseSource) -> AsyncIterator[None]:
    """Lend inside the block."""
    serving: set[asyncio.Task[None]] = set()
    latest: dict[str, asyncio.StreamWriter] = {}

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = connections.create_task(_serve(reader, writer, source, latest))
        serving.add(task)
        task.add_done_callback(serving.discard)

    async with asyncio.TaskGroup() as connections:
        server = await asyncio.start_unix_server(serve, sock=bound(path), backlog=BACKLOG)
        try:
            yield
        finally:
            server.close()
            for task in serving:
                task.cancel()
            path.unlink(missing_ok=True)  # noqa: ASYNC240  # one system call, at the end


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    source: LeaseSource,
    latest: dict[str, asyncio.StreamWriter],
) -> None:
    """`latest`: the connection of each holder; one that ends after its holder has opened another means nothing."""
    holder: str | None = None
    try:
        while True:
            call = _decode(await read_frame(reader))
            holder = call.holder
            latest[holder] = writer
            writer.write(frame(await _answer(call, source)))
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                await writer.drain()
    except (OSError, EOFError, ValueError) as error:  # TimeoutError and DecodeError are among them
        if not isinstance(error, EOFError):
            _log.warning("lease_connection_broke", holder=holder, error=str(error))
    finally:
        writer.close()
        if holder is not None and latest.get(holder) is writer:
            del latest[holder]
            with suppress(StoreUnavailable):  # its places end by themselves a little later
                await source.leave(holder)


async def _answer(call: LeaseCall, source: LeaseSource) -> bytes:
    try:
        return _encode(await source.exchange(call))
    except StoreUnavailable:
        return UNAVAILABLE
