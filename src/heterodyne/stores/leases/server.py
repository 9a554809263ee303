"""A unix socket on which the supervisor lends to its workers from one source, so that their limits are exact together.

A worker whose connection ends is gone: what it ran is over.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import LeaseCall, LeaseKeeper, LimitCounter
from heterodyne.stores.leases.wire import READ, frame, read_frame
from heterodyne.stores.rebinding_listener import rebinding_listener
from heterodyne.telemetry import log

BACKLOG = 128
WRITE_TIMEOUT_S = 5.0
UNAVAILABLE = b""  # the answer when the source itself cannot be reached

_log = log.get("stores")
_decode = msgspec.msgpack.Decoder(LeaseCall).decode
_decode_counters = msgspec.msgpack.Decoder(tuple[LimitCounter, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


@asynccontextmanager
async def serve_leases(path: Path, source: LeaseKeeper) -> AsyncIterator[None]:
    """Lend inside the block."""
    serving: set[asyncio.Task[None]] = set()
    latest: dict[str, asyncio.StreamWriter] = {}

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = connections.create_task(_serve(reader, writer, source, latest))
        serving.add(task)
        task.add_done_callback(serving.discard)

    async with asyncio.TaskGroup() as connections:
        try:
            async with rebinding_listener(path, serve, backlog=BACKLOG):
                yield
        finally:
            for task in serving:
                task.cancel()


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    source: LeaseKeeper,
    latest: dict[str, asyncio.StreamWriter],
) -> None:
    """`latest`: the connection of each holder; one that ends after its holder has opened another means nothing."""
    holder: str | None = None
    try:
        while True:
            body = await read_frame(reader)
            if body.startswith(READ):
                writer.write(frame(await _answer_reading(body, source)))
            else:
                call = _decode(body)
                holder = call.holder
                latest[holder] = writer
                writer.write(frame(await _answer(call, source)))
            async with deadline(WRITE_TIMEOUT_S):
                await writer.drain()
    except (OSError, EOFError, ValueError) as error:  # TimeoutError and DecodeError are among them
        if not isinstance(error, EOFError):
            _log.warning("lease_connection_broke", holder=holder, error=str(error))
    except Exception as error:  # noqa: BLE001  # the root of a task: the worker connects again
        _log.error("lease_connection_failed", holder=holder, exc_info=error)
    finally:
        writer.close()
        if holder is not None and latest.get(holder) is writer:
            del latest[holder]
            with suppress(StoreUnavailable):  # its places end by themselves a little later
                await source.leave(holder)


async def _answer_reading(body: bytes, source: LeaseKeeper) -> bytes:
    """To another gateway on this state folder."""
    try:
        return _encode(await source.read(_decode_counters(body[len(READ) :])))
    except StoreUnavailable:
        return UNAVAILABLE


async def _answer(call: LeaseCall, source: LeaseKeeper) -> bytes:
    try:
        return _encode(await source.exchange(call))
    except StoreUnavailable:
        return UNAVAILABLE
