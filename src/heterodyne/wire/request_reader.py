"""Bytes of one connection become requests, within every limit that holds before a request is understood.

Driven by llhttp. It knows sizes and framing; whose turn it is and how long anything may take is the connection's.
"""

from collections.abc import Callable
from typing import Any, Final, NoReturn

import httptools

from heterodyne.domain.errors import HeterodyneError, MalformedHttp, MethodNotAllowed
from heterodyne.wire import head_rules
from heterodyne.wire.head_rules import HeadRules
from heterodyne.wire.limits import BodyBudget, WireLimits, body_too_large, head_size, head_too_large, is_head_large
from heterodyne.wire.message import HeadCheck, HttpRequest, RequestSink
from heterodyne.wire.reading import BETWEEN, BODY, HEAD
from heterodyne.wire.request_body import RequestBody, no_memory
from heterodyne.wire.request_memory import RequestMemory

LONG_BODY_BYTES: Final = 65536  # of known length: llhttp has nothing to find in it, and would have it copied
FRAMING_PER_BYTE: Final = 8  # of a chunked body, bytes that one may bring along: it may be a chunk of its own
LENGTH_DIGITS_MAX: Final = 20


class ParsingStopped(Exception):  # nothing is wrong: it ends the parsing of what is read past anyway
    """Raised inside the parser, which stops there."""


class RequestReader:
    """Makes requests of bytes; one per connection. Body bytes count against the budget until their request ends."""

    __deletable__ = ("_check_head", "_parser", "_sink")  # for the compiler
    __slots__ = (
        "_check_head",
        "_clock",
        "_fed",
        "_framing_bytes",
        "_head_bytes",
        "_headers",
        "_is_behind_another",
        "_is_beside_parser",
        "_is_chunked",
        "_length",
        "_limits",
        "_parser",
        "_raw_head",
        "_repeats",
        "_request",
        "_rules",
        "_sink",
        "_url",
        "body",
        "is_deaf",
        "memory",
        "reading",
        "since_s",
    )

    def __init__(
        self,
        sink: RequestSink,
        check_head: Callable[[HttpRequest, Any], HeadCheck],  # of the handler, which is given the sink, too
        limits: WireLimits,
        budget: BodyBudget,
        clock: Callable[[], float],
    ) -> None:
        self._sink = sink
        self._check_head = check_head
        self._limits = limits
        self._clock = clock
        self._parser = httptools.HttpRequestParser(self)
        self._rules = HeadRules()
        self._fed = b""  # the piece being parsed
        self._is_behind_another = False  # whether a request has ended in it
        self._head_bytes = 0  # read of an unfinished head, in pieces before it
        self._raw_head = bytearray()  # those pieces
        self._is_chunked = False
        self._length = 0  # of the body, as declared
        self._framing_bytes = 0  # of a chunked body, beyond what its bytes may bring along
        self._request: HttpRequest | None = None  # its head is complete
        self.memory = RequestMemory()
        self._url = b""
        self._headers: dict[bytes, bytes] = {}  # of the head, and then of the trailers
        self._repeats = 0  # headers whose name was there already
        self.body = RequestBody(limits, budget)
        self._is_beside_parser = False  # what is left of the body does not go through it
        self.reading = BETWEEN
        self.since_s = clock()  # when the input came to stand there
        self.is_deaf = False  # input is read past from here on

    @property
    def body_bytes_left(self) -> int:
        """How many of the next bytes are surely of the body; they are quickly read."""
        return self._length - self.body.size if self.reading is BODY else 0

    @property
    def has_leave(self) -> bool:
        """Whether a body is being read that may be as large as any."""
        return self.reading is BODY and self.body.may_be_any

    def feed(self, data: bytes) -> None:
        """Take what the client sent, cut anywhere."""
        if self._is_beside_parser:
            left = self._length - self.body.size
            self.feed_body(memoryview(data)[:left])
            data = data[left:]
        is_between = self.reading is BETWEEN
        if self.is_deaf or not data or (is_between and self._recall(data)):
            return
        body_bytes = self.body.size
        self._parse(data)
        if is_between:
            self.memory.keep(data, self._length)
        if self.reading is HEAD and not self.is_deaf:
            self._count_head(data)
        elif self.reading is BODY and not self.is_deaf:
            self._count_body(len(data), self.body.size - body_bytes)

    def _parse(self, data: bytes) -> None:
        self._fed, self._is_behind_another = data, False
        self._rules.has_tab = None
        while True:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                if not self.is_deaf:
                    data = self._fed = self._without_upgrade(data, upgrade.args[0])
                    continue
            except httptools.HttpParserInvalidMethodError:
                self._broken(MethodNotAllowed("Unknown HTTP method.", allow="GET, POST"))
            except httptools.HttpParserCallbackError as error:
                if isinstance(error.__context__, MemoryError):
                    self._broken(no_memory())
                elif not isinstance(error.__context__, ParsingStopped):
                    raise
            except httptools.HttpParserError as error:
                self._broken(MalformedHttp(f"Malformed HTTP request: {error}"))
            break
        self._fed = b""

    def feed_body(self, data: memoryview) -> None:
        """Take bytes that are surely of the body."""
        if not self._is_beside_parser:
            request = self._request
            # Behind the last request of a connection the parser takes nothing, which a new one would not know.
            if request is None or not request.keep_alive or self._length < LONG_BODY_BYTES:
                self.feed(bytes(data))
                return
            self._is_beside_parser = True
        if self.is_deaf:
            return
        try:
            self.body.add_part(data)
        except HeterodyneError as error:
            self._broken(error)
        else:
            if self.body.size == self._length:
                self._is_beside_parser = False
                self._parser = httptools.HttpRequestParser(self)
                self.on_message_complete()

    def stop(self) -> None:
        """Nothing more is read; an unfinished body is let go."""
        self.is_deaf = True
        self._request, self._raw_head = None, bytearray()
        self._clear()

    def close(self) -> None:
        """The connection is gone."""
        self.stop()
        del self._parser, self._sink, self._check_head  # they point back here, and the collector of cycles runs seldom

    # Called by llhttp, through httptools, inside feed_data.

    def on_message_begin(self) -> None:
        if self.is_deaf:
            raise ParsingStopped
        self._head_bytes = 0
        self.reading = HEAD
        self.since_s = self._clock()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Of the head, or of the trailers, which are counted as a head is and then forgotten."""
        name = name.lower()
        headers = self._headers
        if name in headers:
            value = self._repeated(name, value)
        headers[name] = value

    def on_headers_complete(self) -> None:
        if self.is_deaf:
            raise ParsingStopped
        limits, parser, headers = self._limits, self._parser, self._headers
        # A head that came alone and in one piece is no longer than the piece.
        may_be_large = self._head_bytes or self._is_behind_another or len(self._fed) > limits.head_bytes_max
        if (may_be_large and head_size(self._url, headers) > limits.head_bytes_max) or len(
            headers
        ) > limits.headers_max:
            self._break(head_too_large(self._limits))
        keep_alive = parser.should_keep_alive()
        host, coding = headers.get(b"host"), headers.get(b"transfer-encoding")
        # The version is dear to ask for; a client that keeps the connection and repeats the host keeps its version.
        if host != self._rules.host or coding is not None or not keep_alive:
            self._check_rules(host, coding)
        if parser.should_upgrade():
            # llhttp takes what follows such a head for another protocol, whatever the answer is.
            if parser.get_method() == b"CONNECT":
                self._break(MalformedHttp("There are no tunnels here; ask for a path."))
            return
        keep_alive = self._rules.speaks_chunked and keep_alive
        is_plain = keep_alive and coding is None and not self._repeats and b"expect" not in headers
        self.memory.read(parser.get_method(), self._url, headers, is_plain=is_plain)
        if coding is not None:
            self._headers, self._repeats = {}, 0  # for trailers
            self._framing_bytes = -len(self._fed)  # counting begins with the next piece
        if self._head_bytes:
            self._raw_head = bytearray()
        declared = headers.get(b"content-length", b"0")
        if len(declared) > LENGTH_DIGITS_MAX:
            self._break(MalformedHttp("The header 'content-length' has too many digits."))
        check = self._begin_body(headers, int(declared), keep_alive=keep_alive, is_chunked=coding is not None)
        if b"expect" in headers and check.refusal is None and headers[b"expect"].lower() == b"100-continue":
            self._sink.on_expect_continue()

    def on_body(self, body: bytes) -> None:
        if self.is_deaf:
            raise ParsingStopped
        try:
            self.body.add(body)
        except HeterodyneError as error:
            self._break(error)

    def on_message_complete(self) -> None:
        if self.is_deaf:
            raise ParsingStopped
        request = self._request
        if request is None:
            return  # of a head that is read again
        if self._is_chunked and self._headers and is_head_large(self._url, self._headers, self._limits):
            self._break(head_too_large(self._limits))
        request.body = self.body.take()
        self._request = None
        self._clear()
        self._is_behind_another = True
        self.reading = BETWEEN
        self._sink.on_request(request)

    def _recall(self, data: bytes) -> bool:
        """Whether it is one request, whose head says what the last one's did; then it is read."""
        memory = self.memory
        end = memory.recall(data)
        if not end or end > self._limits.head_bytes_max:
            return False
        length = int(memory.headers.get(b"content-length", b"0"))
        if end + length != len(data):
            return False
        try:
            self._begin_body(memory.headers, length, keep_alive=True, is_chunked=False)
            if length:
                self.on_body(data[end:])
            self.on_message_complete()
        except ParsingStopped:
            pass
        except MemoryError:
            self._broken(no_memory())
        return True

    def _begin_body(self, headers: dict[bytes, bytes], length: int, *, keep_alive: bool, is_chunked: bool) -> HeadCheck:
        """The head is understood: what its body may be."""
        request = self.memory.request(headers, keep_alive=keep_alive, speaks_chunked=self._rules.speaks_chunked)
        self._request = request
        self.reading = BODY
        self.since_s = self._clock()
        self._is_chunked = is_chunked
        self._length = length
        request.head_check = check = self._check_head(request, self._sink)
        sink = check.body_sink
        body_bytes_max = self._limits.body_bytes_max if sink is None else sink.bytes_max
        self.body.begin(check.body_bytes_max if check.body_bytes_max < body_bytes_max else body_bytes_max, sink)
        if length > body_bytes_max and not check.is_any_length:
            self._break(body_too_large(length, body_bytes_max))
        return check

    def _clear(self) -> None:
        """For the next request."""
        self._url, self._headers, self._repeats = b"", {}, 0
        self.body.drop()

    def _check_rules(self, host: bytes | None, coding: bytes | None) -> None:
        """The version is asked of the parser, too."""
        try:
            self._rules.check(self._parser.get_http_version(), host, coding, self._raw_head, self._fed)
        except MalformedHttp as error:
            self._break(error)

    def _repeated(self, name: bytes, value: bytes) -> bytes:
        self._repeats += 1
        if len(self._headers) + self._repeats > self._limits.headers_max:
            self._break(head_too_large(self._limits))
        if self.reading is BODY:
            return value
        try:
            return head_rules.joined(name, self._headers[name], value)
        except MalformedHttp as error:
            self._break(error)

    def _without_upgrade(self, data: bytes, head_ends: int) -> bytes:
        """What is to be read in the place of the data: its head without the offer of another protocol, and the rest."""
        parser = self._parser
        head = head_rules.without_upgrade(parser.get_method(), self._url, parser.get_http_version(), self._headers)
        self._parser = httptools.HttpRequestParser(self)
        self._clear()
        return head + data[head_ends:]

    def _count_head(self, data: bytes) -> None:
        # Of a head that began behind another request only what was understood of it can be counted.
        self._head_bytes += head_size(self._url, self._headers) if self._is_behind_another else len(data)
        if self._head_bytes > self._limits.head_bytes_max or is_head_large(self._url, self._headers, self._limits):
            self._broken(head_too_large(self._limits))
        else:
            self._raw_head += data

    def _count_body(self, fed_bytes: int, body_bytes: int) -> None:
        request = self._request
        assert request is not None
        assert request.head_check is not None
        if request.head_check.refusal is not None:
            # The client need not send what will not be read; the answer ends the connection.
            request.keep_alive = False
            self.stop()
            self._sink.on_request(request)
        elif self._is_chunked:
            framing_bytes = self._framing_bytes + fed_bytes - body_bytes * (1 + FRAMING_PER_BYTE)
            self._framing_bytes = max(0, framing_bytes)
            if framing_bytes > self._limits.head_bytes_max or is_head_large(self._url, self._headers, self._limits):
                self._broken(head_too_large(self._limits))

    def _break(self, problem: HeterodyneError) -> NoReturn:
        """Inside the parser."""
        self._broken(problem)
        raise ParsingStopped

    def _broken(self, problem: HeterodyneError) -> None:
        if not self.is_deaf:
            self.stop()
            self._sink.on_broken(problem)
