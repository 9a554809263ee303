"""The events of a response that runs in the background: written as they come, followed by whoever asks.

Events are kept as their data, in JSON; the number of each is its place, from 0. Every one begins with its type. The
latest are here; those before them are in the store.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.gateway.forms.responses_words import COMPLETED, INCOMPLETE

TYPE_START: Final = len(b'{"type":"')
ENDS: Final = frozenset(
    {b"response.completed", b"response.incomplete", b"response.failed", b"error"},
)
CANCELLED: Final = "cancelled"
HELD_BYTES_MAX: Final = 256 * 1024  # here, of what the store has as well: for those who follow closely
EVENTS_BYTES_MAX: Final = 16 * 1024 * 1024  # of one response, that are kept; about 80,000 tokens

_encode = msgspec.json.Encoder().encode


class ToldResponse(Struct):
    """Of an event's data, how its response stands."""

    response: Raw


_decode_told = msgspec.json.Decoder(ToldResponse).decode


class SomeEvents(NamedTuple):
    """One after the other."""

    first: int  # the number of the first
    events: list[bytes]

    @property
    def end(self) -> int:
        return self.first + len(self.events)


# Those from a number on that are not here any more, some at a time; None: nobody has the next ones.
Older = Callable[[int], Awaitable[SomeEvents | None]]


class EventLog:
    """Those of one response, on the worker that runs it."""

    def __init__(self) -> None:
        self._events: list[bytes] = []
        self._bytes = 0  # of those
        self._all_bytes = 0  # of all there were
        self.first = 0  # the number of the oldest that is here
        self.kept_end: int | None = None  # the first that is too many to be kept; None: none is
        self.last = b""
        self._followers: set[asyncio.Event] = set()

    @property
    def end(self) -> int:
        """The number of the next."""
        return self.first + len(self._events)

    @property
    def is_ended(self) -> bool:
        return bool(self.last) and is_end(self.last)

    def add(self, data: bytes) -> None:
        """One more."""
        self._all_bytes += len(data)
        if self.kept_end is None and self._all_bytes > EVENTS_BYTES_MAX:
            self.kept_end = self.end
        self._events.append(data)
        self._bytes += len(data)
        self.last = data
        for follower in self._followers:
            follower.set()

    def some(self, start: int, end: int) -> list[bytes]:
        """Those from one number to another, that are here."""
        return self._events[start - self.first : end - self.first]

    def trim(self, kept: int) -> None:
        """Let the oldest go that the store has, and more only where that has been away for long."""
        count = 0
        for event in self._events[:-1]:
            may_go = self.first + count < kept and self._bytes > HELD_BYTES_MAX
            if not may_go and self._bytes <= HELD_BYTES_MAX + EVENTS_BYTES_MAX:
                break
            self._bytes -= len(event)
            count += 1
        del self._events[:count]
        self.first += count

    async def follow(self, after: int, wait_s: float, older: Older) -> AsyncIterator[SomeEvents]:
        """Those after a number, to the end of all; empty, where none has come for a while."""
        news = asyncio.Event()
        self._followers.add(news)
        try:
            place = after + 1
            while True:
                if place < self.first:
                    found = await older(place)
                    some = found or SomeEvents(self.first, [])  # what nobody has is left out
                else:
                    some = SomeEvents(place, self.some(place, self.end))
                place = some.end
                yield some
                if place < self.end:
                    continue
                if self.is_ended:
                    return
                with suppress(TimeoutError):
                    async with deadline(wait_s):
                        await news.wait()
                news.clear()
        finally:
            self._followers.discard(news)


def is_end(data: bytes) -> bool:
    """Whether nothing follows it."""
    return type_of(data) in ENDS


def type_of(data: bytes) -> bytes:
    """What kind of event it is."""
    return data[TYPE_START : data.index(b'"', TYPE_START)]


def sse(data: bytes) -> bytes:
    """As it is sent."""
    return b"event: %b\ndata: %b\n\n" % (type_of(data), data)


def data_of(event: bytes) -> bytes:
    """Of an event as it was sent, without the blank line; empty: a comment."""
    return event.partition(b"\ndata: ")[2]


def response_in(data: bytes) -> bytes:
    """Of an event that tells how a response stands."""
    return bytes(_decode_told(data).response)


def event(type: str, number: int, response: bytes) -> bytes:
    """One that tells how a response stands."""
    return b'{"type":"%b","sequence_number":%d,"response":%b}' % (type.encode(), number, response)


def error_event(code: str, message: str, number: int) -> bytes:
    """One that ends the stream, not the response."""
    told: dict[str, Any] = {"type": "error", "sequence_number": number, "code": code, "message": message, "param": None}
    return _encode(told)


def last_event(status: str, number: int, response: bytes) -> bytes:
    """The end of a response that has come to one."""
    if status == CANCELLED:
        return error_event("response_cancelled", "The response was cancelled.", number)
    kind = status if status in (COMPLETED, INCOMPLETE) else "failed"
    return event(f"response.{kind}", number, response)
