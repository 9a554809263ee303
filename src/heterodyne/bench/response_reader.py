"""What comes back for one request, read piece by piece; no sockets, and the time comes with each piece."""

from typing import Protocol

import msgspec

from heterodyne.bench.events import DONE, EventSplitter, StreamedUsage, decode_chunk
from heterodyne.bench.failure import BenchFailure, ExchangeFailed, failure_of_status

ANSWER_BYTES_MAX = 64 << 20
DETAIL_BYTES_MAX = 4096


class ResponseReader(Protocol):
    """A connection feeds it in this order; any of the three may raise ExchangeFailed."""

    usage: StreamedUsage | None
    content_at_s: list[float]

    def head(self, status: int, content_type: bytes) -> None: ...

    def data(self, piece: bytes, now_s: float) -> None: ...

    def end(self, is_whole: bool) -> None: ...


class WholeResponseReader:
    """One JSON body."""

    def __init__(self) -> None:
        self.usage: StreamedUsage | None = None
        self.content_at_s: list[float] = []
        self.body = bytearray()
        self._status = 0

    def head(self, status: int, content_type: bytes) -> None:
        self._status = status

    def data(self, piece: bytes, now_s: float) -> None:
        self.body += piece
        if len(self.body) > ANSWER_BYTES_MAX:
            raise ExchangeFailed(BenchFailure.GARBAGE, f"an answer over {ANSWER_BYTES_MAX} bytes")

    def end(self, is_whole: bool) -> None:
        if self._status // 100 != 2:
            raise refusal(self._status, bytes(self.body))
        if not is_whole:
            raise ExchangeFailed(BenchFailure.BROKEN_ANSWER, f"closed after {len(self.body)} bytes of the answer")
        chunk = decode_chunk(bytes(self.body))
        if chunk.error:
            raise ExchangeFailed(BenchFailure.GARBAGE, f"status 200 with an error: {chunk.error}")
        self.usage = chunk.usage


class StreamResponseReader:
    """Server-sent events, each content event noted with the time it was read."""

    def __init__(self) -> None:
        self.usage: StreamedUsage | None = None
        self.content_at_s: list[float] = []
        self._status = 0
        self._refusal = bytearray()
        self._split = EventSplitter()
        self._is_done = False

    def head(self, status: int, content_type: bytes) -> None:
        self._status = status
        if status // 100 == 2 and not content_type.lower().startswith(b"text/event-stream"):
            raise ExchangeFailed(BenchFailure.GARBAGE, f"asked for a stream, got {content_type!r}")

    def data(self, piece: bytes, now_s: float) -> None:
        if self._status // 100 != 2:
            self._refusal += piece[: DETAIL_BYTES_MAX - len(self._refusal)]
            return
        for event in self._split.feed(piece):
            self._event(event, now_s)

    def end(self, is_whole: bool) -> None:
        if self._status // 100 != 2:
            raise refusal(self._status, bytes(self._refusal))
        if not (is_whole and self._is_done):
            raise ExchangeFailed(
                BenchFailure.BROKEN_STREAM, f"ended without [DONE] after {len(self.content_at_s)} content events"
            )

    def _event(self, event: bytes, now_s: float) -> None:
        if event == DONE:
            self._is_done = True
            return
        chunk = decode_chunk(event)
        if chunk.error:
            raise ExchangeFailed(BenchFailure.ERROR_EVENT, str(chunk.error)[:DETAIL_BYTES_MAX])
        if chunk.has_content():
            self.content_at_s.append(now_s)
        if chunk.usage is not None:
            self.usage = chunk.usage


def refusal(status: int, body: bytes) -> ExchangeFailed:
    """An answer other than 2xx, with the server's own sentence when it has one."""
    try:
        message = msgspec.json.decode(body)["error"]["message"]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, IndexError):
        message = body[:200].decode("utf-8", "replace")
    return ExchangeFailed(failure_of_status(status), f"HTTP {status}: {message}")
