"""One client connection: requests take their turns, answers become bytes, and nothing waits for ever.

What the client sends is read by the request reader; what a request means is the handler's business.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, Protocol

from heterodyne.domain.errors import HeterodyneError, Overloaded, RequestTooSlow
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import CHUNKS_END, HeadCheck, HttpRequest, chunk
from heterodyne.wire.pacing import LARGE_READ_BYTES, rest
from heterodyne.wire.reading import BETWEEN, HEAD
from heterodyne.wire.request_reader import RequestReader
from heterodyne.wire.responder import Responder
from heterodyne.wire.server_socket import HeldWrites, ServerSocket
from heterodyne.wire.unread import SLICE_BYTES, Unread

TURN_S: Final = 0.001  # for reading in one turn of the loop: others wait meanwhile
HEAD_KEPT_S: Final = 5.0  # by a connection without requests: of many that wait, heads would take much memory
LOOKED_AT_MAX: Final = 64  # connections, to find one that gives way


class Handler(Protocol):
    """What the connection asks of the gateway; no call may raise or block."""

    def check_head(self, request: HttpRequest, connection: "ServerConnection") -> HeadCheck:
        """The head is complete, and nothing of the body is held yet: whether it may come, and how much of it."""

    def handle(self, request: HttpRequest, connection: "ServerConnection") -> Responder | None:
        """Answer now and return None, or return the turn that will answer; one that was refused has no body."""

    def refuse(self, error: HeterodyneError, connection: "ServerConnection") -> None:
        """Answer bytes that never became a request."""


class ServerLedger:
    """What all connections of one worker share: which are open and how many body bytes are held."""

    __slots__ = ("body_bytes", "connections", "held_writes", "is_draining")

    def __init__(self) -> None:
        self.connections: dict[ServerConnection, None] = {}  # the oldest first, as far as they were looked at
        self.body_bytes = 0
        self.held_writes = HeldWrites()
        self.is_draining = False

    def try_make_room(self) -> bool:
        """Cut an old connection that is not in use; those that are busy are looked at again later."""
        for connection in tuple(islice(self.connections, LOOKED_AT_MAX)):
            del self.connections[connection]
            if connection.gives_way:
                connection.abort()
                return True
            self.connections[connection] = None
        return False


class ServerConnection(ServerSocket):
    """HTTP/1.1 server side of one socket: its requests, in their order."""

    __slots__ = (
        "_clock",
        "_handler",
        "_has_asked",
        "_idle_since_s",
        "_is_advancing",
        "_is_going_on",
        "_is_lingering",
        "_is_writing_paused",
        "_ledger",
        "_limits",
        "_pending",
        "_problem",
        "_reader",
        "_request",
        "_responder",
        "_served",
        "_unread",
        "last_check",
    )

    def __init__(self, handler: Handler, limits: WireLimits, ledger: ServerLedger, clock: Callable[[], float]) -> None:
        super().__init__(ledger.held_writes)
        self._handler = handler
        self._limits = limits
        self._ledger = ledger
        self._clock = clock
        self._reader = RequestReader(self, handler.check_head, limits, ledger, clock)
        self.last_check: HeadCheck | None = None  # what the handler made of a head before, for it to know the next by
        self._problem: HeterodyneError | None = None  # the input is broken and the client has no answer to it yet
        self._request: HttpRequest | None = None  # being answered
        self._responder: Responder | None = None
        self._pending: deque[HttpRequest] = deque()
        self._idle_since_s = clock()  # the last answer was complete, or lingering began
        self._has_asked = False  # a whole request has come
        self._served = 0  # requests, in this turn of the loop
        self._unread = Unread()  # what came at once and is too much for one turn
        self._is_going_on = False  # the next turn of the loop goes on with it, or with what is pending
        self._is_advancing = False  # a loop further up the stack serves what is pending
        self._is_lingering = False  # the last answer is out; input is thrown away so that the client gets to see it
        self._is_writing_paused = False

    # Called by uvloop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        ledger = self._ledger
        is_full = len(ledger.connections) >= self._limits.connections_max and not ledger.try_make_room()
        ledger.connections[self] = None
        if is_full:
            self._refuse(Overloaded("Too many open connections; try again shortly.", retry_after_s=1))

    def data_received(self, data: bytes) -> None:
        self._served = 0
        if len(data) <= SLICE_BYTES and not self._unread.size:
            self._reader.feed(data)
        else:
            self._unread.add(data)
            self._read_on()
            # Where one more read has the end of the body, the client is not one that goes on and on.
            if len(data) >= LARGE_READ_BYTES and not 0 < self._reader.body_bytes_left <= LARGE_READ_BYTES:
                rest(self._transport, lambda: self._is_reading_paused)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._reader.close()
        self._ledger.connections.pop(self, None)
        self._unread.clear()
        self._held, self._held_bytes, self._problem, self._paced = [], 0, None, None
        self._ledger.body_bytes -= sum(request.let_go() for request in self._pending)
        if self._request is not None:
            self._ledger.body_bytes -= self._request.let_go()
        self._pending.clear()
        responder, self._responder, self._request = self._responder, None, None
        if responder is not None:
            responder.client_gone()

    def pause_writing(self) -> None:
        self._is_writing_paused = True
        if self._responder is not None:
            self._responder.client_slow()

    @property
    def is_slow(self) -> bool:
        return self._is_writing_paused

    def resume_writing(self) -> None:
        self._is_writing_paused = False
        if self._responder is not None:
            self._responder.client_ready()
        else:
            self._advance()

    # Called by the request reader.

    def on_request(self, request: HttpRequest) -> None:
        self._has_asked = True
        if self._is_free and not self._pending and self._served < self._limits.pipeline_max:
            self._serve(request)
        else:  # pipelined requests wait in order; reading stops when the queue is full
            self._pending.append(request)
            self._pace()

    def on_expect_continue(self) -> None:
        if self._request is None and not self._pending:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_broken(self, problem: HeterodyneError) -> None:
        """Requests before the break still get their answers."""
        self._problem = problem
        self._advance()

    # Called by the handler and its responders.

    @property
    def speaks_chunked(self) -> bool:
        """Whether a streamed answer is framed in chunks; an HTTP/1.0 client gets it delimited by close."""
        return self._request is not None and self._request.speaks_chunked

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection outlives the current answer; the answer's head must say so when it does not."""
        return self._request is not None and self._request.keep_alive and not self._ledger.is_draining

    def write_payload(self, payload: bytes) -> None:
        """A piece of the current streamed answer, framed here."""
        self.write(chunk(payload) if self.speaks_chunked else payload)

    def finish(self, last: bytes = b"") -> None:
        """The current answer is complete after `last`."""
        if self._transport is None:
            return
        self.flush(last)
        request, self._request, self._responder = self._request, None, None
        if request is not None:
            self._ledger.body_bytes -= request.let_go()
        if request is None or not request.keep_alive:
            self._linger()
            return
        self._idle_since_s = self._clock()
        if self._pending or self._problem is not None:
            self._advance()

    def finish_paced(self, head: bytes, pieces: Sequence[bytes]) -> None:
        """The whole current answer, a slice at a time; nothing follows it."""
        if self._transport is not None:
            self._responder = None
            self._write_paced((head, *pieces), self._paced_out)

    def is_answering(self, request: HttpRequest) -> bool:
        """Whether that request's answer is not complete yet."""
        return self._request is request

    def hand_over(self, responder: Responder) -> None:
        """Another responder answers the current request from here."""
        self._responder = responder
        if self._is_writing_paused:
            responder.client_slow()

    def finish_stream(self) -> None:
        """The current streamed answer is complete."""
        self.finish(CHUNKS_END if self.speaks_chunked else b"")

    def abort(self) -> None:
        """Cut the connection: the current answer cannot be completed and must not look complete."""
        self._responder = None
        if self._transport is not None:
            self._transport.abort()

    def hang_up(self) -> None:
        """Send what is written and close, though the current answer is not complete."""
        self._responder = None
        self._close()

    # Called by the worker's clock.

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self._request is not None

    @property
    def gives_way(self) -> bool:
        """Whether it may be cut to make room for another: no request is being answered, or read in full."""
        if self._request is not None or self._pending or self._reader.has_leave:
            return False
        return not self.is_flushing or self._clock() - self._idle_since_s >= self._limits.linger_timeout_s

    def check(self, now_s: float) -> None:
        """Enforce the time limits of what the connection waits for."""
        limits, reader = self._limits, self._reader
        if self._is_stuck(now_s, limits.write_timeout_s):
            self._cut()
        elif self._is_lingering:
            if self.is_flushing:
                self._idle_since_s = now_s  # lingering begins once the answer has left
            elif now_s - self._idle_since_s > limits.linger_timeout_s:
                self._cut()
        elif self._request is not None or self._pending:
            return
        elif reader.reading is not BETWEEN:
            part, timeout_s = (
                ("head", limits.head_timeout_s) if reader.reading is HEAD else ("body", limits.body_timeout_s)
            )
            if reader.body.has_advanced():
                reader.since_s = now_s
            if now_s - max(reader.since_s, self._idle_since_s) > timeout_s:
                self._refuse(RequestTooSlow(f"The request {part} took longer than {timeout_s:g} s."))
        elif self._ledger.is_draining or now_s - self._idle_since_s > (
            limits.idle_timeout_s if self._has_asked else limits.head_timeout_s
        ):
            self._close()
        elif now_s - self._idle_since_s > HEAD_KEPT_S:
            reader.memory.forget()

    def _paced_out(self) -> None:
        self._paced = None
        self.finish()

    def _serve(self, request: HttpRequest) -> None:
        self._served += 1
        self._request = request
        responder = self._handler.handle(request, self)
        # An answer given at once has already moved the connection on.
        if responder is not None and self.is_answering(request):
            self._responder = responder

    @property
    def _is_free(self) -> bool:
        """Whether the next request may be answered: the last answer is complete and the client has taken it."""
        return self._request is None and not self._is_writing_paused and not self._is_lingering

    def _advance(self) -> None:
        """Serve what is pending, in a loop: answers given at once would otherwise nest as deep as the queue is long."""
        if self._is_advancing:
            return
        self._is_advancing = True
        while self._pending and self._is_free and self._served < self._limits.pipeline_max:
            self._serve(self._pending.popleft())
        self._is_advancing = False
        if self._problem is not None and not self._pending and self._is_free:
            self._refuse(self._problem)
        else:
            self._pace()

    def _read_on(self) -> None:
        """Read what came at once slice by slice, for a moment, and the rest in later turns of the loop."""
        reader, unread, ends_s = self._reader, self._unread, self._clock() + TURN_S
        while unread.size and not reader.is_deaf and len(self._pending) < self._limits.pipeline_max:
            unread.feed(reader)
            if self._clock() > ends_s:
                break
        if reader.is_deaf:
            unread.clear()
        self._pace()

    def _pace(self) -> None:
        """Read from the socket when everything read before is understood, and see to it that this goes on."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        is_full = len(self._pending) >= self._limits.pipeline_max
        self._set_reading_paused(is_full or self._unread.size > 0)
        can_go_on = (self._pending and self._is_free) or (self._unread.size and not is_full)
        if can_go_on and not self._is_going_on:
            self._is_going_on = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_going_on = False
        self._served = 0
        self._advance()
        self._read_on()

    def _refuse(self, error: HeterodyneError) -> None:
        """Answer what never became a request; with that answer the connection ends."""
        self._problem = None
        self._handler.refuse(error, self)

    def _linger(self) -> None:
        """Send FIN and discard input for a moment; closing on unread input would reset the answer away."""
        self._is_lingering = True
        self._idle_since_s = self._clock()
        self._reader.stop()
        self._unread.clear()
        self._end_sending()
