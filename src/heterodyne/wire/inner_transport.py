"""A connection without a socket: the gateway asks itself, by the way that every request takes."""

import asyncio
from collections.abc import Callable
from typing import Any


class InnerTransport(asyncio.Transport):
    """What is written to it is the answer, once it is closed; cut off, there is none."""

    def __init__(
        self,
        protocol: asyncio.BaseProtocol,
        bytes_max: int,
        ended: Callable[[bytes], None] | None = None,
        heard: Callable[[bytes], None] | None = None,
    ) -> None:
        """`ended` hears of the answer as it ends, before anything else happens; `heard` of its pieces as they come.

        What was heard in pieces is not kept: the answer of such a one is empty.
        """
        super().__init__()
        self._ended = ended
        self._heard = heard
        self._protocol = protocol
        self._bytes_max = bytes_max
        self._loop = asyncio.get_running_loop()
        self._pieces: list[bytes] = []
        self._bytes = 0
        self._is_closing = False
        self.answer: asyncio.Future[bytes] = self._loop.create_future()

    def write(self, data: Any) -> None:
        if self._is_closing:
            return
        self._bytes += len(data)
        if self._bytes > self._bytes_max:
            self.abort()
        elif self._heard is not None:
            self._heard(bytes(data))
        else:
            self._pieces.append(bytes(data))

    def close(self) -> None:
        self._end(b"".join(self._pieces))

    def abort(self) -> None:
        self._end(b"")

    def is_closing(self) -> bool:
        return self._is_closing

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nobody is slow."""

    def pause_reading(self) -> None:
        """Nothing more comes."""

    def resume_reading(self) -> None:
        """Nothing more comes."""

    def _end(self, answer: bytes) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        self._pieces.clear()
        if self._ended is not None:
            self._ended(answer)
        if not self.answer.done():
            self.answer.set_result(answer)
        self._loop.call_soon(self._protocol.connection_lost, None)
