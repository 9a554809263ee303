"""The events of a response that runs in the background: written as they come, followed by whoever asks.

Events are kept as their data, in JSON; the number of each is its place, from 0. Every one begins with its type.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.gateway.forms.responses_words import COMPLETED, INCOMPLETE

TYPE_START: Final = len(b'{"type":"')
ENDS: Final = frozenset(
    {b"response.completed", b"response.incomplete", b"response.failed", b"error"},
)
CANCELLED: Final = "cancelled"

_encode = msgspec.json.Encoder().encode


class ToldResponse(Struct):
    """Of an event's data, how its response stands."""

    response: Raw


_decode_told = msgspec.json.Decoder(ToldResponse).decode


class EventLog:
    """Those of one response, on the worker that runs it."""

    def __init__(self) -> None:
        self.events: list[bytes] = []
        self._followers: set[asyncio.Event] = set()

    @property
    def is_ended(self) -> bool:
        return bool(self.events) and is_end(self.events[-1])

    def add(self, data: bytes) -> None:
        """One more."""
        self.events.append(data)
        for follower in self._followers:
            follower.set()

    async def follow(self, after: int, wait_s: float) -> AsyncIterator[list[bytes]]:
        """Those after a number, to the end of all; empty, where none has come for a while."""
        news = asyncio.Event()
        self._followers.add(news)
        try:
            place = after + 1
            while True:
                some = self.events[place:]
                place += len(some)
                yield some
                if self.is_ended and place >= len(self.events):
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
