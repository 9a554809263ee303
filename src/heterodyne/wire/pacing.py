"""Much to read or to send, a slice in each turn of the loop, so that other connections are served meanwhile.

libuv would go on reading from one socket up to 32 times in a row; and a socket whose reader keeps up takes everything
at once: a body of 32 MiB would be one call of 30 ms into the kernel.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator

LARGE_READ_BYTES = 240 * 1024  # uvloop's buffer is full, and libuv goes on; of 256,000 bytes TLS leaves this many
SLICE_BYTES = 512 * 1024  # a third of a millisecond; whatever is read in the loop is sent in one
AGAIN_S, AGAIN_MAX_S = 0.001, 0.016  # to look whether the last slice has left; longer for a reader that is slow


def rest(transport: asyncio.Transport | None, is_paused: Callable[[], bool]) -> None:
    """Read no more from the socket in this turn; in the next one go on, unless it is paused by then."""
    if transport is None or transport.is_closing() or is_paused():
        return

    def go_on() -> None:
        if not transport.is_closing() and not is_paused():
            transport.resume_reading()

    transport.pause_reading()
    asyncio.get_running_loop().call_soon(go_on)


class PacedWrite:
    """On its way out until `is_done`, or until its transport is closed."""

    __slots__ = ("_again_s", "_on_done", "_slices", "_transport")

    def __init__(
        self, transport: asyncio.Transport, pieces: Iterable[bytes], on_done: Callable[[], None] | None = None
    ) -> None:
        self._transport = transport
        self._slices = deque(_slices(pieces))
        self._on_done = on_done
        self._again_s = AGAIN_S
        self._go_on()

    @property
    def is_done(self) -> bool:
        """Whether the last slice has left; a reader that is quick answers it before `on_done` has its turn."""
        return not self._slices and not self._transport.get_write_buffer_size()

    def _go_on(self) -> None:
        transport, loop = self._transport, asyncio.get_running_loop()
        if transport.is_closing():
            self._on_done = None  # it points back, and the collector of cycles runs seldom
            return
        if transport.get_write_buffer_size():
            loop.call_later(self._again_s, self._go_on)
            self._again_s = min(2 * self._again_s, AGAIN_MAX_S)
            return
        self._again_s = AGAIN_S
        if self._slices:
            transport.write(self._slices.popleft())
            loop.call_soon(self._go_on)
            return
        on_done, self._on_done = self._on_done, None
        if on_done is not None:
            on_done()


def _slices(pieces: Iterable[bytes]) -> Iterator[memoryview]:
    for piece in pieces:
        whole = memoryview(piece)
        for at in range(0, len(whole), SLICE_BYTES):
            yield whole[at : at + SLICE_BYTES]
