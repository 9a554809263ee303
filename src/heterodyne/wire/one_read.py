"""One large read in a turn of the loop: libuv would go on with the same socket up to 32 times before anybody else's."""

import asyncio
from collections.abc import Callable

LARGE_READ_BYTES = 128 * 1024


def rest(transport: asyncio.Transport | None, is_paused: Callable[[], bool]) -> None:
    """Read no more from the socket in this turn; in the next one go on, unless it is paused by then."""
    if transport is None or transport.is_closing() or is_paused():
        return

    def go_on() -> None:
        if not transport.is_closing() and not is_paused():
            transport.resume_reading()

    transport.pause_reading()
    asyncio.get_running_loop().call_soon(go_on)
