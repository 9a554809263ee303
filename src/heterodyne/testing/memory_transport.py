"""A transport without a socket: what a protocol writes is kept, and what it reads is whatever a test feeds it."""

import asyncio


class MemoryTransport(asyncio.Transport):
    """Stands under any asyncio.Protocol; `connection_lost` is delivered by `lose`, when the test wants it."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._protocol = protocol
        self._is_closing = False
        self.written = b""
        self._is_reading = True
        self.has_written_eof = False
        self.was_aborted = False
        protocol.connection_made(self)

    def feed(self, *pieces: bytes) -> None:
        """Hand bytes to the protocol, piece by piece, for as long as it is open."""
        for piece in pieces:
            if not self._is_closing:
                self._protocol.data_received(piece)

    def lose(self, error: Exception | None = None) -> None:
        """The connection is gone."""
        self._is_closing = True
        self._protocol.connection_lost(error)

    # What a protocol calls.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.has_written_eof:
            raise RuntimeError("Cannot call write() after write_eof()")
        self.written += bytes(data)

    def write_eof(self) -> None:
        self.has_written_eof = True

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self._is_closing = True

    def abort(self) -> None:
        self._is_closing = True
        self.was_aborted = True

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True

    def is_reading(self) -> bool:
        return self._is_reading

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is ever buffered."""
