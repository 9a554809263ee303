"""One accepted socket: bytes go out, and what its client has not taken yet is watched.

Pieces of an answer may wait for each other a moment: to send one costs more than all that was done to make it.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, final

from heterodyne.wire.pacing import PacedWrite
from heterodyne.wire.tls.peer_names import peer_names

WRITE_BUFFER_BYTES: Final = 65536
HOLD_S: Final = 0.002
HELD_BYTES_MAX: Final = 16384  # of one answer; with more it does not wait


class ServerSocket(asyncio.Protocol):
    """The base of a server's connection; one per socket. It knows nothing of requests."""

    __slots__ = (
        "_held",
        "_held_bytes",
        "_held_writes",
        "_is_reading_paused",
        "_paced",
        "_taken_at_s",
        "_transport",
        "_unsent_bytes",
    )

    def __init__(self, held_writes: "HeldWrites") -> None:
        self._held_writes = held_writes
        self._held: list[bytes] = []  # goes out with the next write, or in a moment
        self._held_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._paced: PacedWrite | None = None  # the rest of a long answer, on its way out
        self._is_reading_paused = False
        self._unsent_bytes = 0  # at the last check
        self._taken_at_s = 0.0  # when the client was last seen to take any

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a server's transports read and write
        assert self._transport is not None
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)

    def eof_received(self) -> bool:
        """A client that has stopped sending has gone: half-closed sockets look like dead ones."""
        return False

    @property
    def peer(self) -> tuple[str, int] | None:
        """The address of the other side."""
        return self._extra("peername")

    @property
    def certificate_names(self) -> tuple[str, ...] | None:
        """What the certificate of the other side calls it; None: it has shown none."""
        certificate = None if self._transport is None else self._transport.get_extra_info("peercert")
        return peer_names(certificate) if certificate else None

    @property
    def address(self) -> tuple[str, int] | None:
        """The address that the other side connected to."""
        return self._extra("sockname")

    @property
    def unsent_bytes(self) -> int:
        """Written here and not yet taken by the client's side."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    @property
    def is_flushing(self) -> bool:
        """Whether written bytes have not all left yet."""
        return self.unsent_bytes > 0 or self._paced is not None

    def write(self, data: bytes) -> None:
        """Bytes of the current answer, already framed."""
        if self._transport is not None:
            self._transport.write(self._take_held(data) if self._held else data)

    def write_soon(self, data: bytes) -> None:
        """The same of bytes that may wait a moment for more."""
        if self._transport is None:
            return
        if not self._held:
            self._held_writes.add(self)
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > HELD_BYTES_MAX:
            self.flush()

    def flush(self, last: bytes = b"") -> None:
        """Send what waits for more, and these bytes behind it."""
        if self._transport is not None and (last or self._held):
            self._transport.write(self._take_held(last) if self._held else last)

    def _take_held(self, data: bytes) -> bytes:
        """What waits, and these bytes behind it."""
        self._held.append(data)
        data = b"".join(self._held)
        self._held.clear()
        self._held_bytes = 0
        return data

    def _write_paced(self, pieces: Iterable[bytes], on_done: Callable[[], None]) -> None:
        assert self._transport is not None
        self.flush()
        self._paced = PacedWrite(self._transport, pieces, on_done)

    def _set_reading_paused(self, is_paused: bool) -> None:
        if is_paused == self._is_reading_paused:
            return
        assert self._transport is not None
        self._is_reading_paused = is_paused
        if is_paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _end_sending(self) -> None:
        """Send FIN once everything is out, and go on reading where the transport can do both."""
        assert self._transport is not None
        self.flush()
        if not self._transport.is_closing():
            self._set_reading_paused(False)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def _is_stuck(self, now_s: float, write_timeout_s: float) -> bool:
        """Whether the client has taken nothing of what is written for longer than it may."""
        unsent_bytes = self.unsent_bytes
        if unsent_bytes < self._unsent_bytes or not self._unsent_bytes:
            self._taken_at_s = now_s
        self._unsent_bytes = unsent_bytes
        return unsent_bytes > 0 and now_s - self._taken_at_s > write_timeout_s

    def _close(self) -> None:
        if self._transport is not None:
            self.flush()
            self._transport.close()

    def _cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _extra(self, name: str) -> tuple[str, int] | None:
        found = None if self._transport is None else self._transport.get_extra_info(name)
        return (found[0], found[1]) if isinstance(found, tuple) else None


@final
class HeldWrites:
    """One per worker: what its connections hold back leaves together, and soon."""

    __slots__ = ("_holders",)

    def __init__(self) -> None:
        self._holders: list[ServerSocket] = []  # each has held something back within HOLD_S

    def add(self, holder: ServerSocket) -> None:
        """It holds something back from now on."""
        if not self._holders:
            asyncio.get_running_loop().call_later(HOLD_S, self._flush)
        self._holders.append(holder)

    def _flush(self) -> None:
        holders, self._holders = self._holders, []
        for holder in holders:
            holder.flush()
