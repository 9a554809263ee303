"""One connection to a server: a request goes out, its answer comes back piece by piece.

A chunked stream whose pieces arrive whole, which is nearly every streamed token, is handed on as the very bytes that
came; only what was cut on the way is taken apart and put together.
"""

import asyncio
import ssl
from enum import IntEnum
from typing import Final, Protocol

import httptools

from heterodyne.wire.chunks import ChunkDecoder, ChunksInvalid, whole_chunks
from heterodyne.wire.errors import ConnectionBroken, ResponseInvalid, WireError
from heterodyne.wire.head_memory import HeadMemory
from heterodyne.wire.pacing import LARGE_READ_BYTES, SLICE_BYTES, PacedWrite, rest
from heterodyne.wire.tls.failures import failure_text

HEAD_BYTES_MAX: Final = 65536
OK: Final = 200


class Listener(Protocol):
    """Who sent the request: it is called with the answer."""

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None: ...

    def on_framed(self, data: bytes, chunks: int) -> None:
        """So many whole chunks, framing included."""
        ...

    def on_payload(self, data: bytes) -> None:
        """Body bytes without framing."""
        ...

    def on_end(self) -> None:
        """The answer is complete; the connection may already serve another request."""
        ...

    def on_failure(self, error: WireError) -> None:
        """The answer will never be complete."""
        ...


class Owner(Protocol):
    """The pool a connection goes back to."""

    def is_idle(self, connection: "ClientConnection") -> None: ...
    def is_closed(self, connection: "ClientConnection") -> None: ...


class BodyFraming(IntEnum):
    """How the end of the current answer's body is found."""

    NONE = 0
    HEAD = 1  # the head is not complete yet
    LENGTH = 2
    CHUNKED = 3
    UNTIL_CLOSE = 4


# On the request path an enum's member costs five times as much as a global.
NONE: Final = BodyFraming.NONE
HEAD: Final = BodyFraming.HEAD
LENGTH: Final = BodyFraming.LENGTH
CHUNKED: Final = BodyFraming.CHUNKED
UNTIL_CLOSE: Final = BodyFraming.UNTIL_CLOSE


class ClientConnection(asyncio.Protocol):
    """HTTP/1.1 client side of one socket; one request at a time."""

    __slots__ = (
        "_body",
        "_buffer",
        "_chunks",
        "_fields",
        "_headers",
        "_is_aligned",
        "_is_paused",
        "_keep_alive",
        "_memory",
        "_owner",
        "_paced",
        "_remaining",
        "_transport",
        "has_answered",
        "listener",
        "requests_sent",
    )

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self.listener: Listener | None = None
        self.requests_sent = 0
        self.has_answered = False  # any byte of the current answer has come
        self._body = NONE
        self._buffer = b""
        self._remaining = 0
        self._keep_alive = False
        self._is_paused = False
        self._is_aligned = False  # the next byte begins a chunk
        self._chunks = ChunkDecoder()
        self._memory = HeadMemory()
        self._headers: dict[bytes, bytes] = {}  # of the head that is parsed
        self._fields = 0  # in it
        self._paced: PacedWrite | None = None  # a large body on its way out

    # Called by the sender of a request.

    def send(self, listener: Listener, head: bytes, body: bytes) -> None:
        """Send one request; the answer goes to `listener`."""
        assert self.listener is None
        assert self._transport is not None
        self.listener = listener
        self.requests_sent += 1
        self.has_answered = False
        self._body = HEAD
        self._buffer = b""
        self._paced = None
        if len(body) < 16384:
            self._transport.write(head + body)
        elif len(body) <= SLICE_BYTES:
            self._transport.writelines((head, body))
        else:
            self._paced = PacedWrite(self._transport, (head, body))

    def cancel(self) -> None:
        """The answer is not wanted any more: closing is how the server learns it."""
        self.listener = None
        self._cut()

    def release(self) -> None:
        """Give the connection back unused."""
        self._owner.is_idle(self)

    def pause(self) -> None:
        """Stop reading: the taker of the answer cannot keep up."""
        if self.is_open and not self._is_paused:
            assert self._transport is not None
            self._is_paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        if self.is_open and self._is_paused:
            assert self._transport is not None
            self._is_paused = False
            self._transport.resume_reading()

    def rest(self, data: bytes) -> None:
        """Let other connections have their turn after a large piece of an answer."""
        if len(data) >= LARGE_READ_BYTES:
            rest(self._transport, lambda: self._is_paused)

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    # Called by uvloop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a client's transport reads and writes

    def data_received(self, data: bytes) -> None:
        listener = self.listener
        if listener is None:
            self._cut()  # no request is out; the connection is out of step
            return
        self.has_answered = True
        if self._body is CHUNKED:
            chunks, end = whole_chunks(data) if self._is_aligned else (0, 0)
            if end == len(data):
                listener.on_framed(data, chunks)
            else:
                self._take_chunked(data, chunks, end)
                self.rest(data)
        elif self._body is LENGTH:
            self._take_length(data)
            self.rest(data)
        elif self._body is HEAD:
            self._take_head(data)
        else:
            listener.on_payload(data)
            self.rest(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._owner.is_closed(self)
        if self.listener is None:
            return
        if self._body is UNTIL_CLOSE and exc is None:
            self._complete()
            return
        if isinstance(exc, ssl.SSLError):
            self._fail(ConnectionBroken("The {server} ended the TLS connection: ", failure_text(exc)))
            return
        self._fail(ConnectionBroken("The {server} closed its connection before the answer was complete."))

    def _take_head(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
            self._buffer = b""
        memory = self._memory
        end = memory.recall(data)
        if end:
            status, headers, self._keep_alive = OK, memory.headers, True
        else:
            end = data.find(b"\r\n\r\n") + 4
            if end < 4:
                self._buffer = data
                if len(data) > HEAD_BYTES_MAX:
                    self._fail(ResponseInvalid("The {server}'s answer has no end of head."))
                return
            parsed = self._parse_head(data[:end])
            if parsed is None:
                return
            status, headers = parsed
        rest = data[end:]
        if status < 200:
            if rest:
                self._take_head(rest)
            return
        self._begin_body(status, headers)
        assert self.listener is not None
        self.listener.on_head(status, headers)
        if self._body is LENGTH and self._remaining == 0 and not rest:
            self._complete()
        elif rest and self.listener is not None:
            self.data_received(rest)

    def _parse_head(self, head: bytes) -> tuple[int, dict[bytes, bytes]] | None:
        """Status and headers, kept for the next answer where all is well; None: it is no head, and has failed."""
        headers: dict[bytes, bytes] = {}
        self._headers, self._fields = headers, 0
        parser = httptools.HttpResponseParser(self)
        try:
            parser.feed_data(head)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(ResponseInvalid("The {server}'s answer is not HTTP: ", str(error)))
            return None
        status = parser.get_status_code()
        # Of an answer without a body the parser has already forgotten it by now.
        self._keep_alive = parser.should_keep_alive() or (
            headers.get(b"content-length") == b"0"
            and parser.get_http_version() == "1.1"
            and headers.get(b"connection", b"").lower() != b"close"
        )
        if self._keep_alive and status == OK and self._fields == len(headers):
            self._memory.keep(head, headers)
        else:
            self._memory.forget()
        return status, headers

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by llhttp, through httptools, while a head is read."""
        self._fields += 1
        self._headers[name.lower()] = value

    def _begin_body(self, status: int, headers: dict[bytes, bytes]) -> None:
        if b"transfer-encoding" in headers:
            # Of two ways to find the end this one wins, and the connection is not trusted with another answer.
            self._keep_alive = self._keep_alive and b"content-length" not in headers
            self._body = CHUNKED
            self._chunks = ChunkDecoder()
            self._is_aligned = True
        elif b"content-length" in headers:
            self._body, self._remaining = LENGTH, int(headers[b"content-length"])
        elif status in (204, 304):
            self._body, self._remaining = LENGTH, 0
        else:
            self._body = UNTIL_CLOSE
            self._keep_alive = False

    def _take_length(self, data: bytes) -> None:
        assert self.listener is not None
        if len(data) > self._remaining:
            self._fail(ResponseInvalid("The {server} sent more than its content-length."))
            return
        self._remaining -= len(data)
        if data:
            self.listener.on_payload(data)
        if self._remaining == 0 and self.listener is not None:
            self._complete()

    def _take_chunked(self, data: bytes, chunks: int, end: int) -> None:
        """Whole chunks up to `end`, then something that must be taken apart."""
        assert self.listener is not None
        if chunks:
            self.listener.on_framed(data[:end], chunks)
        if self.listener is not None:
            self._decode_chunks(data[end:])

    def _decode_chunks(self, data: bytes) -> None:
        assert self.listener is not None
        try:
            payload = self._chunks.feed(data)
        except ChunksInvalid as error:
            self._fail(ResponseInvalid("The {server}'s stream is broken: ", str(error)))
            return
        self._is_aligned = self._chunks.is_between
        if payload:
            self.listener.on_payload(payload)
        if self._chunks.is_ended and self.listener is not None:
            self._complete()

    @property
    def _is_sent(self) -> bool:
        """Whether the server has had the whole request; else it would take the rest for another."""
        if self._paced is not None:
            return self._paced.is_done
        return self._transport is not None and not self._transport.get_write_buffer_size()

    def _complete(self) -> None:
        listener, self.listener = self.listener, None
        assert listener is not None
        self._body = NONE
        if self._keep_alive and self.is_open and self._is_sent:
            if self._is_paused:
                self.resume()  # the last bytes came while the client could not keep up
            self._owner.is_idle(self)
        else:
            self._close()
        listener.on_end()

    def _fail(self, error: WireError) -> None:
        listener, self.listener = self.listener, None
        self._cut()
        if listener is not None:
            listener.on_failure(error)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()
