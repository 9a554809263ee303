"""One client connection: bytes become requests, answers become bytes, and nothing waits for ever.

The connection is a state machine driven by uvloop and llhttp. It knows sizes, times and framing; what a request
means is the handler's business. Requests are answered one at a time, in the order they came.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import httptools

from heterodyne.domain.errors import (
    BodyTooLarge,
    HeadTooLarge,
    HeterodyneError,
    MalformedHttp,
    MethodNotAllowed,
    Overloaded,
    RequestTooSlow,
)
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import CHUNKS_END, HttpRequest, chunk

WRITE_BUFFER_BYTES = 65536


class Turn(Protocol):
    """Whoever answers the current request later."""

    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...


class Handler(Protocol):
    """What the connection asks of the gateway; neither call may raise or block."""

    def handle(self, request: HttpRequest, connection: "ServerConnection") -> Turn | None:
        """Answer now and return None, or return the turn that will answer."""
        ...

    def refuse(self, error: HeterodyneError, connection: "ServerConnection") -> None:
        """Answer bytes that never became a request."""
        ...


class ServerLedger:
    """What all connections of one worker share: who is open and how many body bytes are held."""

    __slots__ = ("body_bytes", "connections", "is_draining")

    def __init__(self) -> None:
        self.connections: set[ServerConnection] = set()
        self.body_bytes = 0
        self.is_draining = False


class Reading(IntEnum):
    """Where in a request the input stands."""

    BETWEEN = 0
    HEAD = 1
    BODY = 2
    DISCARD = 3  # the last answer is out; input is thrown away so that the client gets to see it


# On the request path an enum's member costs five times as much as a global.
BETWEEN, HEAD, BODY, DISCARD = Reading


class ServerConnection(asyncio.Protocol):
    """HTTP/1.1 server side of one socket."""

    __slots__ = (
        "_body",
        "_body_bytes",
        "_clock",
        "_fed_bytes",
        "_handler",
        "_head_bytes",
        "_headers",
        "_is_advancing",
        "_is_deaf",
        "_is_reading_paused",
        "_is_writing_paused",
        "_ledger",
        "_limits",
        "_parser",
        "_pending",
        "_problem",
        "_reading",
        "_reading_since",
        "_request",
        "_speaks_chunked",
        "_taken_at",
        "_transport",
        "_turn",
        "_unsent_bytes",
        "_url",
    )

    def __init__(self, handler: Handler, limits: WireLimits, ledger: ServerLedger, clock: Callable[[], float]) -> None:
        self._handler = handler
        self._limits = limits
        self._ledger = ledger
        self._clock = clock
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._reading = BETWEEN
        self._reading_since = clock()
        self._is_deaf = False  # input is read past from here on
        self._problem: HeterodyneError | None = None  # why it is, when the client has yet to be told
        self._request: HttpRequest | None = None  # being answered
        self._turn: Turn | None = None
        self._pending: deque[HttpRequest] = deque()
        self._is_advancing = False  # a loop further up the stack serves what is pending
        self._is_reading_paused = False
        self._is_writing_paused = False
        self._unsent_bytes = 0  # at the last check
        self._taken_at = 0.0  # when the client was last seen to take any
        self._body_bytes = 0
        self._head_bytes = 0  # read of an unfinished head
        self._fed_bytes = 0  # of the piece being parsed
        self._speaks_chunked: bool | None = None  # the HTTP version, once known
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []

    # Called by uvloop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a server's transports read and write
        assert self._transport is not None
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES)
        is_full = len(self._ledger.connections) >= self._limits.connections_max
        self._ledger.connections.add(self)
        if is_full:
            self._refuse(Overloaded("Too many open connections; try again shortly.", retry_after_s=1))

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        self._fed_bytes = len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._broken(MalformedHttp("Protocol upgrades are not supported; speak plain HTTP/1.1."))
        except httptools.HttpParserInvalidMethodError:
            self._broken(MethodNotAllowed("Unknown HTTP method.", allow="GET, POST"))
        except httptools.HttpParserError as error:
            self._broken(MalformedHttp(f"Malformed HTTP request: {error}"))
        if self._reading is HEAD:
            self._head_bytes += self._fed_bytes or self._head_size()
            if self._head_bytes > self._limits.head_bytes_max:
                self._broken(self._head_too_large())

    def eof_received(self) -> bool:
        """A client that has stopped talking has gone: half-closed sockets cannot be told from dead ones."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._is_deaf = True
        self._reading = DISCARD
        self._ledger.connections.discard(self)
        held = sum(len(request.body) for request in self._pending)
        if self._request is not None:
            held += len(self._request.body)
        self._ledger.body_bytes -= held + self._body_bytes
        self._body_bytes = 0
        self._pending.clear()
        self._request = None
        del self._parser  # it points back here, and nobody looks for cycles often
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.client_gone()

    def pause_writing(self) -> None:
        self._is_writing_paused = True
        if self._turn is not None:
            self._turn.client_slow()

    def resume_writing(self) -> None:
        self._is_writing_paused = False
        if self._turn is not None:
            self._turn.client_ready()
        else:
            self._advance()

    # Called by llhttp, through httptools, inside feed_data.

    def on_message_begin(self) -> None:
        if self._is_deaf:
            return
        self._head_bytes = 0
        self._reading = HEAD
        self._reading_since = self._clock()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        if self._is_deaf:
            return
        headers = self._headers
        head_bytes_max = self._limits.head_bytes_max
        # A head that came alone and in one piece is no longer than the piece.
        may_be_large = self._head_bytes or not self._fed_bytes or self._fed_bytes > head_bytes_max
        if (may_be_large and self._head_size() > head_bytes_max) or len(headers) > self._limits.headers_max:
            self._broken(self._head_too_large())
            return
        if self._parser.should_upgrade():
            self._broken(MalformedHttp("Protocol upgrades are not supported; speak plain HTTP/1.1."))
            return
        if self._speaks_chunked is None:
            version = self._parser.get_http_version()
            if version not in ("1.0", "1.1"):
                self._broken(MalformedHttp(f"HTTP/{version} is not spoken here; speak HTTP/1.1."))
                return
            self._speaks_chunked = version == "1.1"
        self._reading = BODY
        self._reading_since = self._clock()
        length = headers.get(b"content-length")
        if length is not None and int(length) > self._limits.body_bytes_max:
            self._broken(self._body_too_large(int(length)))
        elif b"expect" in headers and self._request is None and headers[b"expect"].lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        if self._is_deaf:
            return
        self._body.append(body)
        self._body_bytes += len(body)
        self._ledger.body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes_max:
            self._broken(self._body_too_large(self._body_bytes))
        elif self._ledger.body_bytes > self._limits.bodies_bytes_max:
            self._broken(Overloaded("Too many request bodies are held; try again shortly.", retry_after_s=1))

    def on_message_complete(self) -> None:
        if self._is_deaf:
            return
        body = self._body
        speaks_chunked = bool(self._speaks_chunked)
        path, _, query = self._url.partition(b"?")
        request = HttpRequest(
            method=self._parser.get_method(),
            path=path,
            query=query,
            headers=self._headers,
            body=body[0] if len(body) == 1 else b"".join(body),
            keep_alive=speaks_chunked and self._parser.should_keep_alive() and not self._ledger.is_draining,
            speaks_chunked=speaks_chunked,
        )
        self._body_bytes = 0  # the request holds them now
        self._fed_bytes = 0  # of the next request's head only later pieces are counted
        self._url, self._headers, self._body = b"", {}, []
        self._reading = BETWEEN
        if self._is_free and not self._pending:
            self._serve(request)
        else:
            self._queue(request)

    # Called by whoever answers.

    @property
    def speaks_chunked(self) -> bool:
        """Whether a streamed answer is framed in chunks; an HTTP/1.0 client gets it delimited by close."""
        return self._request is not None and self._request.speaks_chunked

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection outlives the current answer; the answer's head must say so when it does not."""
        return self._request is not None and self._request.keep_alive

    def write(self, data: bytes) -> None:
        """Bytes of the current answer, already framed."""
        if self._transport is not None:
            self._transport.write(data)

    def writer(self) -> Callable[[bytes], None]:
        """The same for many writes in a row, by somebody who stops when told that the client has gone."""
        return self._transport.write if self._transport is not None else self.write

    def write_payload(self, payload: bytes) -> None:
        """A piece of the current streamed answer, framed here."""
        self.write(chunk(payload) if self.speaks_chunked else payload)

    def finish(self, last: bytes = b"") -> None:
        """The current answer is complete after `last`."""
        if self._transport is None:
            return
        if last:
            self._transport.write(last)
        request, self._request, self._turn = self._request, None, None
        if request is not None:
            self._ledger.body_bytes -= len(request.body)
        if request is None or not request.keep_alive:
            self._linger()
            return
        self._reading_since = self._clock()
        if self._pending or self._problem is not None:
            self._advance()

    def finish_stream(self) -> None:
        """The current streamed answer is complete."""
        self.finish(CHUNKS_END if self.speaks_chunked else b"")

    def abort(self) -> None:
        """Cut the connection: the current answer cannot be completed and must not look complete."""
        self._turn = None
        if self._transport is not None:
            self._transport.abort()

    # Called by the worker's clock.

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self._request is not None

    @property
    def unsent_bytes(self) -> int:
        """Written here and not yet taken by the client's side."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    @property
    def is_flushing(self) -> bool:
        """Whether written bytes have not all left yet."""
        return self.unsent_bytes > 0

    def check(self, now: float) -> None:
        """Enforce the time limits of what the connection waits for."""
        limits, waited_s = self._limits, now - self._reading_since
        if self._is_stuck(now):
            self._cut()
        elif self._request is not None or self._pending:
            return
        elif self._reading is HEAD:
            if waited_s > limits.head_timeout_s:
                self._refuse(RequestTooSlow(f"The request head took longer than {limits.head_timeout_s:g} s."))
        elif self._reading is BODY:
            if waited_s > limits.body_timeout_s:
                self._refuse(RequestTooSlow(f"The request body took longer than {limits.body_timeout_s:g} s."))
        elif self._reading is BETWEEN:
            if (waited_s > limits.idle_timeout_s or self._ledger.is_draining) and self._transport is not None:
                self._transport.close()
        elif self.is_flushing:
            self._reading_since = now  # lingering begins once the answer has left
        elif waited_s > limits.linger_timeout_s:
            self._cut()

    def _serve(self, request: HttpRequest) -> None:
        self._request = request
        turn = self._handler.handle(request, self)
        # An answer given at once has already moved the connection on.
        if turn is not None and self._request is request:
            self._turn = turn

    @property
    def _is_free(self) -> bool:
        """Whether the next request may be answered: the last answer is complete and the client has taken it."""
        return self._request is None and not self._is_writing_paused and self._reading is not DISCARD

    def _advance(self) -> None:
        """Serve what is pending, in a loop: answers given at once would otherwise nest as deep as the queue is long."""
        if self._is_advancing:
            return
        self._is_advancing = True
        while self._pending and self._is_free:
            self._serve(self._pending.popleft())
        self._is_advancing = False
        if self._problem is not None and not self._pending and self._is_free:
            self._refuse(self._problem)
        elif self._is_reading_paused and len(self._pending) < self._limits.pipeline_max:
            self._is_reading_paused = False
            if self._transport is not None:
                self._transport.resume_reading()

    def _queue(self, request: HttpRequest) -> None:
        """Pipelined requests wait in order; reading stops when the queue is full."""
        self._pending.append(request)
        if len(self._pending) >= self._limits.pipeline_max and not self._is_reading_paused:
            self._is_reading_paused = True
            if self._transport is not None:
                self._transport.pause_reading()

    def _broken(self, problem: HeterodyneError) -> None:
        """The input cannot be trusted from here on; requests before it still get their answers."""
        if self._is_deaf:
            return
        self._is_deaf = True
        self._problem = problem
        self._advance()

    def _refuse(self, error: HeterodyneError) -> None:
        """Answer what never became a request; with that answer the connection ends."""
        self._problem = None
        self._handler.refuse(error, self)

    def _linger(self) -> None:
        """Send FIN and discard input for a moment; closing on unread input would reset the answer away."""
        self._is_deaf = True
        self._reading = DISCARD
        self._reading_since = self._clock()
        self._ledger.body_bytes -= self._body_bytes
        self._body_bytes = 0
        self._url, self._headers, self._body = b"", {}, []
        transport = self._transport
        assert transport is not None
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()

    def _is_stuck(self, now: float) -> bool:
        """Whether the client has taken nothing of what is written for longer than it may."""
        unsent_bytes = self.unsent_bytes
        if unsent_bytes < self._unsent_bytes or not self._unsent_bytes:
            self._taken_at = now
        self._unsent_bytes = unsent_bytes
        return unsent_bytes > 0 and now - self._taken_at > self._limits.write_timeout_s

    def _cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _head_size(self) -> int:
        return len(self._url) + sum(map(len, self._headers)) + sum(map(len, self._headers.values()))

    def _head_too_large(self) -> HeterodyneError:
        limits = self._limits
        return HeadTooLarge(f"The request head is over {limits.head_bytes_max} bytes or {limits.headers_max} headers.")

    def _body_too_large(self, seen_bytes: int) -> HeterodyneError:
        return BodyTooLarge(
            f"The body has at least {seen_bytes} bytes; the limit is {self._limits.body_bytes_max} bytes."
        )
