"""Asynchronous things for tests that block: each runs on a uvloop in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TypeVar

import uvloop

Opened = TypeVar("Opened")
TIMEOUT_S = 10.0


@contextmanager
def in_thread(thing: AbstractAsyncContextManager[Opened]) -> Iterator[Opened]:
    """What the thing opens to, while a thread keeps it open."""
    opened: list[Opened] = []
    started, leave, loop = threading.Event(), asyncio.Event(), uvloop.new_event_loop()

    async def hold() -> None:
        async with thing as one:
            opened.append(one)
            started.set()
            await leave.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(hold(),))
    thread.start()
    try:
        assert started.wait(TIMEOUT_S)
        yield opened[0]
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(TIMEOUT_S)
        loop.close()
