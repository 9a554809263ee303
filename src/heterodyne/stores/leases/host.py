"""Counters of limits kept by this worker's supervisor, over its unix socket."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.leases import LeaseAnswer, LeaseCall, LimitCounter
from heterodyne.stores.leases.wire import READ, frame, read_frame

TIMEOUT_S = 0.5  # longer than the supervisor waits for Redis, should it ask there

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LeaseAnswer).decode
_decode_read = msgspec.msgpack.Decoder(tuple[int, ...]).decode

T = TypeVar("T")


class HostLeases:
    """`LeaseSource` on the other end of `lending`; it connects when it is first asked and again after a failure."""

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._reading = asyncio.Lock()

    async def exchange(self, call: LeaseCall) -> LeaseAnswer:
        return await self._call(_encode(call), _decode)

    async def read(self, counters: Sequence[LimitCounter]) -> tuple[int, ...]:
        """As a `LimitReader`. While it waits, the same object may be used for other readings only."""
        async with self._reading:
            return await self._call(READ + _encode(counters), _decode_read)

    async def _call(self, question: bytes, decode: Callable[[bytes], T]) -> T:
        try:
            async with deadline(self._timeout_s):
                if self._streams is None:
                    self._streams = await asyncio.open_unix_connection(str(self._path))
                reader, writer = self._streams
                writer.write(frame(question))
                body = await read_frame(reader)
            if not body:
                raise StoreUnavailable(
                    "The counters of limits do not answer the supervisor. Try again.", retry_after_s=1
                )
            return decode(body)
        except (OSError, EOFError, ValueError) as error:  # TimeoutError and DecodeError are among them
            self._disconnect()
            raise StoreUnavailable(
                f"The supervisor, which keeps the counters of limits, does not answer ({type(error).__name__}). "
                "Try again.",
                retry_after_s=1,
            ) from error
        except asyncio.CancelledError:
            self._disconnect()  # the answer under way would be taken for the next one
            raise

    async def leave(self, holder: str) -> None:
        """The end of the connection says so."""
        self._disconnect()

    async def close(self) -> None:
        self._disconnect()

    def _disconnect(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
