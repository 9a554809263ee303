"""An engine's event stream to the client, event by event, counted and never ended as if whole when it is not.

A piece that is one or more whole chunks of whole events with nothing to look into, which is nearly every token, goes
on as the bytes that came. Everything else is taken apart: unfinished events wait for their end, the usage event is
read and withheld from clients that did not ask for it.
"""

import re
from collections.abc import Callable

import msgspec

from heterodyne.domain.errors import EngineBroke, EngineGarbage
from heterodyne.domain.request import Usage
from heterodyne.gateway import usage
from heterodyne.wire.chunks import unframe
from heterodyne.wire.server_connection import ServerConnection

EVENT_BYTES_MAX = 4 << 20
EVENT_END = re.compile(rb"\r?\n\r?\n")
FIELDS = (b"data:", b":", b"event:", b"id:", b"retry:")


class StreamRelay:
    """Moves one stream. Raises EngineError when the engine's bytes are not one."""

    __slots__ = (
        "_clock",
        "_connection",
        "_is_chunked",
        "_tail",
        "_wants_usage",
        "bytes_sent",
        "events",
        "first_at_s",
        "has_error",
        "is_done",
        "last_at_s",
        "usage",
    )

    def __init__(self, connection: ServerConnection, clock: Callable[[], float], *, wants_usage: bool) -> None:
        self._connection = connection
        self._clock = clock
        self._wants_usage = wants_usage
        self._is_chunked = connection.speaks_chunked
        self._tail = b""
        self.events = 0
        self.bytes_sent = 0
        self.first_at_s = 0.0
        self.last_at_s = 0.0
        self.is_done = False
        self.has_error = False
        self.usage: Usage | None = None

    def take_framed(self, data: bytes) -> None:
        """Whole chunks, framing included."""
        if (
            data.endswith(b"\n\n\r\n")
            and data.find(b"\ndata:", 0, 12) > 0
            and b'"usage"' not in data
            and b"[DONE]" not in data
            and b'"error"' not in data
            and not self._tail
            and self._is_chunked
        ):
            self.last_at_s = self._clock()
            if not self.events:
                self.first_at_s = self.last_at_s
            self.events += data.count(b"\n\n")
            self.bytes_sent += len(data)
            self._connection.write(data)
        else:
            self.take(unframe(data))

    def take(self, payload: bytes) -> None:
        """Body bytes, cut anywhere."""
        data = self._tail + payload
        whole, rest = [], 0
        for end in EVENT_END.finditer(data):
            event = data[rest : end.start()]
            rest = end.end()
            if self._is_wanted(event):
                whole.append(event + b"\n\n")
        self._tail = data[rest:]
        if len(self._tail) > EVENT_BYTES_MAX:
            raise EngineGarbage("The engine sent an event without an end.")
        if self._tail and not _may_become_event(self._tail):
            raise EngineGarbage("The engine sent bytes that are no event stream.")
        self.last_at_s = self._clock()
        if whole:
            if not self.events:
                self.first_at_s = self.last_at_s
            self.events += len(whole)
            piece = b"".join(whole)
            self.bytes_sent += len(piece)
            self._connection.write_payload(piece)

    def check_end(self) -> None:
        """The engine closed its stream properly; whether the answer was complete is another matter."""
        if self._tail or not (self.is_done or self.has_error):
            raise EngineBroke("The engine ended its stream before the answer was complete.")

    def _is_wanted(self, event: bytes) -> bool:
        if not event.startswith(FIELDS):
            raise EngineGarbage("The engine sent bytes that are no event stream.")
        if not event.startswith(b"data:"):
            return True
        data = event[5:].strip()
        if data == b"[DONE]":
            self.is_done = True
            return True
        try:
            news = usage.of_event(data)
        except msgspec.DecodeError as error:
            raise EngineGarbage("The engine sent an event that is not JSON.") from error
        if news.usage is not None:
            self.usage = news.usage
        self.has_error = self.has_error or news.is_error
        return self._wants_usage or not news.is_usage_only


def _may_become_event(tail: bytes) -> bool:
    return any(tail.startswith(field[: len(tail)]) for field in FIELDS)
