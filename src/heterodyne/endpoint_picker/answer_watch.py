"""Reads along while an answer passes a proxy: when it began, how many events it had, what its engine counted."""

from typing import Final

import msgspec

from heterodyne.domain.request import Usage
from heterodyne.gateway import usage
from heterodyne.gateway.event_bytes import ends, try_data

WHOLE_BYTES_MAX: Final = 1 << 20  # of an answer that comes whole; a longer one is counted by estimate
EVENT_BYTES_MAX: Final = 1 << 19  # of an event whose end has not come; what is longer is not read
STREAM: Final = b"text/event-stream"
DONE: Final = b"[DONE]"


class AnswerWatch:
    """One answer. It changes nothing, and an answer that it cannot read passes all the same."""

    def __init__(self, headers: dict[bytes, bytes]) -> None:
        self.is_stream = headers.get(b"content-type", b"").startswith(STREAM)
        self._is_readable = headers.get(b"content-encoding", b"identity") == b"identity"
        self._held = b""
        self.bytes = 0
        self.events = 0
        self.first_at_s = 0.0  # when the first token came; 0: it has not
        self.last_at_s = 0.0
        self.events_early = 0  # before the first token
        self.usage: Usage | None = None  # None: the engine has not counted, or cannot be read
        self.is_done = False  # the stream has said that it is complete
        self.is_error = False  # the engine has said so in the answer

    def feed(self, piece: bytes, now_s: float) -> None:
        """The next of it."""
        self.bytes += len(piece)
        self.last_at_s = now_s
        if not self.is_stream and piece and not self.first_at_s:
            self.first_at_s = now_s
        if not self._is_readable:
            return
        if not self.is_stream:
            self._held += piece
            if len(self._held) > WHOLE_BYTES_MAX:
                self._held, self._is_readable = b"", False
            return
        self._take(self._held + piece)

    def end(self) -> None:
        """All of it has come."""
        if self.is_stream or not self._is_readable or not self._held:
            return
        try:
            self.usage, self.is_error = usage.of_answer(self._held)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # no JSON: nobody counts what is in it

    @property
    def itl_s(self) -> float | None:
        """The mean time between events; None: there were too few."""
        gaps = self.events - self.events_early - 1
        return (self.last_at_s - self.first_at_s) / gaps if gaps > 0 and self.first_at_s and self.is_stream else None

    def _take(self, data: bytes) -> None:
        rest, events = 0, []
        for end in ends(data):
            events.append(data[rest : end.start()].lstrip(b"\r\n"))
            rest = end.end()
        self._held = data[rest:]
        if len(self._held) > EVENT_BYTES_MAX:
            self._held, self._is_readable = b"", False
        if not self.first_at_s and (at := usage.first_of_answer(events)) is not None:
            self.first_at_s = self.last_at_s
            self.events_early = self.events + at
        for event in events:
            self._hear(event)

    def _hear(self, event: bytes) -> None:
        data = try_data(event)
        if data is None:
            return
        if data == DONE:
            self.is_done = True
            return
        self.events += 1
        if data.find(b'"usage"') < 0 and data.find(b'"error"') < 0:
            return
        try:
            news = usage.of_event(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        self.usage = news.usage or self.usage
        self.is_error = self.is_error or news.is_error
        self.events -= news.is_usage_only
