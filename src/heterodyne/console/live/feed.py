"""Once a second, while a console is open: one page, encoded once for all of them.

A listener that is slow finds the newest page when it is ready for one, and delays no other.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.console.errors import TooManyOpen
from heterodyne.console.event_stream import HEARTBEAT, event
from heterodyne.console.live.service import LiveService
from heterodyne.telemetry import log

INTERVAL_S = 1.0
HEARTBEAT_S = 15.0
LISTENERS_MAX = 64
RETRY_AFTER_S = 10

_log = log.get("console")


class LiveFeed:
    """One per console; `run` is a task of its owner."""

    def __init__(
        self, service: LiveService, *, interval_s: float = INTERVAL_S, listeners_max: int = LISTENERS_MAX
    ) -> None:
        self.service = service
        self._interval_s = interval_s
        self._listeners_max = listeners_max
        self._listeners: set[_Listener] = set()
        self._wanted = asyncio.Event()
        self._is_closed = False
        self._events = 0

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wanted.wait()
            since, next_s = self.service.taken, loop.time()
            while self._listeners:
                since = self._publish(since)
                next_s = max(next_s + self._interval_s, loop.time())
                await asyncio.sleep(next_s - loop.time())
            self._wanted.clear()

    def listen(self, is_welcome: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        """Events from now on, as long as it is welcome; raises where too many listen."""
        if not self._has_room:
            raise TooManyOpen(
                f"{self._listeners_max} consoles are open, as many as may be; close one, or ask `/admin/now`.",
                retry_after_s=RETRY_AFTER_S,
            )
        return self._events_for(is_welcome)

    def close(self) -> None:
        """End every listener; there are no more after this."""
        self._is_closed = True
        for listener in self._listeners:
            listener.end()

    @property
    def listeners(self) -> int:
        """How many there are."""
        return len(self._listeners)

    @property
    def _has_room(self) -> bool:
        return not self._is_closed and len(self._listeners) < self._listeners_max

    def _publish(self, since: int) -> int:
        taken = self.service.taken
        try:
            data = msgspec.json.encode(self.service.page(since))
        except Exception as error:  # noqa: BLE001  # one page that fails must not end the feed, and what serves with it
            _log.error("live_page_failed", exc_info=error)
            return taken
        self._events += 1
        encoded = event("now", data, self._events)
        for listener in self._listeners:
            listener.give(encoded)
        return taken

    async def _events_for(self, is_welcome: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
        if not self._has_room:  # others came between the question and now
            return
        listener = _Listener()
        self._listeners.add(listener)
        self._wanted.set()
        try:
            yield HEARTBEAT  # the head goes out at once
            while is_welcome():
                piece = await listener.take(HEARTBEAT_S)
                if not piece:
                    return
                yield piece
        finally:
            self._listeners.discard(listener)


class _Listener:
    """A place for the newest event."""

    __slots__ = ("_has", "_is_ended", "_piece")

    def __init__(self) -> None:
        self._has = asyncio.Event()
        self._piece = b""
        self._is_ended = False

    def give(self, piece: bytes) -> None:
        self._piece = piece
        self._has.set()

    def end(self) -> None:
        self._is_ended = True
        self._has.set()

    async def take(self, timeout_s: float) -> bytes:
        """The newest event, or a heartbeat when there was none for a while; empty at the end."""
        try:
            async with deadline(timeout_s):
                await self._has.wait()
        except TimeoutError:
            return HEARTBEAT
        self._has.clear()
        return b"" if self._is_ended else self._piece
