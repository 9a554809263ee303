"""Policies look at a stream in turns of the loop: after a millisecond of it, others are served first.

An engine may say very much at once, in one long event or in many. What waits is looked at in its order; while that is
more than a little, the engine is not read from.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from heterodyne.gateway.offload.process import PendingWork
from heterodyne.ports.engine import EventEdit
from heterodyne.safety.event_slices import sliced

TURN_S: Final = 0.001
SLICE_BYTES: Final = 2048  # of what came
EVENT_BYTES: Final = 512  # of an event whose texts nobody counts
SLICE_CHARS: Final = 128  # of the texts of a longer one; with what is held back, four milliseconds at worst
WAITING_BYTES_MAX: Final = 65536  # before the engine is made to wait


class EventLook(Protocol):
    """What policies do with events."""

    owes: bool  # there is more in the place of the last one, which has to be told before the next

    def __call__(self, data: bytes, /) -> tuple[bytes, ...]: ...

    def more(self, _: bytes = b"") -> tuple[bytes, ...]:
        """The next of it."""
        ...

    def try_ask(self, then: Callable[[], None]) -> PendingWork | None:
        """Have what is too much for the loop judged beside it, before there is more; None: nothing is."""
        ...


class TurnsOwner(Protocol):
    """The attempt, or the kept answer, that a stream belongs to."""

    @property
    def is_over(self) -> bool: ...

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def wait_for(self, work: PendingWork) -> None:
        """All of it has come, and is looked at."""
        ...


class TurnsRelay(Protocol):
    """What takes events to the client."""

    def look(self, data: bytes) -> None:
        """Bytes that came."""
        ...

    def say(self, edit: EventEdit, data: bytes) -> None:
        """An event as policies let the client have it."""
        ...

    @property
    def is_slow(self) -> bool:
        """Whether the client cannot keep up, so that the engine waits in any case."""
        ...


class StreamTurns:
    """One for each try whose events policies look at."""

    __slots__ = (
        "_events",
        "_guard",
        "_is_paused",
        "_owner",
        "_payloads",
        "_relay",
        "_then",
        "_timer",
        "_until_s",
        "_waiting_bytes",
        "_work",
    )

    def __init__(self, guard: EventLook) -> None:
        self._guard = guard
        self._owner: TurnsOwner | None = None  # None: it is over, or has not begun
        self._relay: TurnsRelay | None = None
        self._payloads: deque[bytes] = deque()  # that came
        self._events: deque[bytes] = deque()  # that stand before them, and that no policy has seen
        self._waiting_bytes = 0
        self._is_paused = False
        self._timer: asyncio.Handle | None = None  # None: nothing waits
        self._work: PendingWork | None = None  # that the next turn waits for
        self._until_s = 0.0  # when this turn has lasted long enough, by the monotonic clock
        self._then: Callable[[], None] | None = None  # None: more may come

    def begin(self, relay: TurnsRelay, owner: TurnsOwner) -> None:
        """Nothing has come yet."""
        self._relay, self._owner = relay, owner

    @property
    def is_behind(self) -> bool:
        """Whether anything waits."""
        return self._timer is not None

    def take(self, data: bytes) -> None:
        """Bytes that have come."""
        if self._timer is None and len(data) <= SLICE_BYTES:
            assert self._relay is not None
            self._until_s = time.monotonic() + TURN_S
            self._relay.look(data)
            if self._events or self._guard.owes:
                self._go_on()
            return
        self._payloads += [data[start : start + SLICE_BYTES] for start in range(0, len(data), SLICE_BYTES)]
        self._waiting_bytes += len(data)
        if self._timer is None:
            self._turn()
        if self._owner is not None and self._waiting_bytes > WAITING_BYTES_MAX:
            self._is_paused = True
            self._owner.pause()

    def event(self, data: bytes) -> tuple[bytes, ...]:
        """One event, as OpenAI's clients get it: what may be said of it now."""
        events = [data] if len(data) <= EVENT_BYTES else sliced(data, SLICE_CHARS)
        guard = self._guard
        if not self._events and len(events) == 1 and not guard.owes and time.monotonic() < self._until_s:
            return guard(data)
        self._events += events
        return ()

    def end(self, then: Callable[[], None]) -> None:
        """No more comes; `then` is called when all of it was looked at."""
        assert self._owner is not None
        self._then = then
        self._owner.wait_for(self)

    def cancel(self) -> None:
        """Nobody wants it any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._work is not None:
            self._work.cancel()
        self._owner = self._relay = self._timer = self._work = None

    def _go_on(self) -> None:
        self._timer = asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._until_s = time.monotonic() + TURN_S
        relay, owner, guard = self._relay, self._owner, self._guard
        self._work = None
        while relay is not None and owner is not None:
            if owner.is_over:
                self.cancel()
                return
            if guard.owes:
                self._work = guard.try_ask(self._go_on)
                if self._work is not None:
                    return
                relay.say(guard.more, b"")
            elif self._events:
                relay.say(guard, self._events.popleft())
            elif self._payloads:
                data = self._payloads.popleft()
                self._waiting_bytes -= len(data)
                relay.look(data)
            else:
                self._caught_up(relay, owner)
                return
            if time.monotonic() >= self._until_s:
                self._go_on()
                return

    def _caught_up(self, relay: TurnsRelay, owner: TurnsOwner) -> None:
        self._timer = None
        if self._is_paused:
            self._is_paused = False
            if not relay.is_slow:
                owner.resume()
        if self._then is not None:
            self._then()
