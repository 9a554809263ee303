"""Bytes of one connection become requests, within every limit that holds before a request is understood.

Driven by llhttp. It knows sizes and framing; whose turn it is and how long anything may take is the connection's.
"""

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
)
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import HttpRequest


class BodyBudget(Protocol):
    """How many body bytes all connections of a worker hold."""

    body_bytes: int


class Sink(Protocol):
    """Who gets what was read."""

    def on_request(self, request: HttpRequest) -> None: ...

    def on_expect_continue(self) -> None:
        """The client waits for a word before it sends the body."""
        ...

    def on_broken(self, problem: HeterodyneError) -> None:
        """The input cannot be trusted from here on; the reader is deaf."""
        ...


class Reading(IntEnum):
    """Where in a request the input stands."""

    BETWEEN = 0
    HEAD = 1
    BODY = 2


# On the request path an enum's member costs five times as much as a global.
BETWEEN, HEAD, BODY = Reading


class RequestReader:
    """Of one connection. Body bytes count against the budget until whoever has the request gives them back."""

    __slots__ = (
        "_body",
        "_body_bytes",
        "_budget",
        "_clock",
        "_fed_bytes",
        "_head_bytes",
        "_headers",
        "_limits",
        "_parser",
        "_sink",
        "_speaks_chunked",
        "_url",
        "is_deaf",
        "reading",
        "since_s",
    )

    def __init__(self, sink: Sink, limits: WireLimits, budget: BodyBudget, clock: Callable[[], float]) -> None:
        self._sink = sink
        self._limits = limits
        self._budget = budget
        self._clock = clock
        self._parser = httptools.HttpRequestParser(self)
        self._speaks_chunked: bool | None = None  # the HTTP version, once known
        self._head_bytes = 0  # read of an unfinished head
        self._fed_bytes = 0  # of the piece being parsed
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._body_bytes = 0
        self.reading = BETWEEN
        self.since_s = clock()  # when the input came to stand there
        self.is_deaf = False  # input is read past from here on

    def feed(self, data: bytes) -> None:
        """Take what the client sent, cut anywhere."""
        if self.is_deaf:
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
        if self.reading is HEAD:
            self._head_bytes += self._fed_bytes or self._head_size()
            if self._head_bytes > self._limits.head_bytes_max:
                self._broken(self._head_too_large())

    def stop(self) -> None:
        """Nothing more is read; an unfinished body is let go."""
        self.is_deaf = True
        self._budget.body_bytes -= self._body_bytes
        self._body_bytes = 0
        self._url, self._headers, self._body = b"", {}, []

    def close(self) -> None:
        """The connection is gone."""
        self.stop()
        del self._parser, self._sink  # they point back here, and nobody looks for cycles often

    # Called by llhttp, through httptools, inside feed_data.

    def on_message_begin(self) -> None:
        if self.is_deaf:
            return
        self._head_bytes = 0
        self.reading = HEAD
        self.since_s = self._clock()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        if self.is_deaf:
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
        self.reading = BODY
        self.since_s = self._clock()
        length = headers.get(b"content-length")
        if length is not None and int(length) > self._limits.body_bytes_max:
            self._broken(self._body_too_large(int(length)))
        elif b"expect" in headers and headers[b"expect"].lower() == b"100-continue":
            self._sink.on_expect_continue()

    def on_body(self, body: bytes) -> None:
        if self.is_deaf:
            return
        self._body.append(body)
        self._body_bytes += len(body)
        self._budget.body_bytes += len(body)
        if self._body_bytes > self._limits.body_bytes_max:
            self._broken(self._body_too_large(self._body_bytes))
        elif self._budget.body_bytes > self._limits.bodies_bytes_max:
            self._broken(Overloaded("Too many request bodies are held; try again shortly.", retry_after_s=1))

    def on_message_complete(self) -> None:
        if self.is_deaf:
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
            keep_alive=speaks_chunked and self._parser.should_keep_alive(),
            speaks_chunked=speaks_chunked,
        )
        self._body_bytes = 0  # the request holds them now
        self._fed_bytes = 0  # of the next request's head only later pieces are counted
        self._url, self._headers, self._body = b"", {}, []
        self.reading = BETWEEN
        self._sink.on_request(request)

    def _broken(self, problem: HeterodyneError) -> None:
        if not self.is_deaf:
            self.is_deaf = True
            self._sink.on_broken(problem)

    def _head_size(self) -> int:
        return len(self._url) + sum(map(len, self._headers)) + sum(map(len, self._headers.values()))

    def _head_too_large(self) -> HeterodyneError:
        limits = self._limits
        return HeadTooLarge(f"The request head is over {limits.head_bytes_max} bytes or {limits.headers_max} headers.")

    def _body_too_large(self, seen_bytes: int) -> HeterodyneError:
        return BodyTooLarge(
            f"The body has at least {seen_bytes} bytes; the limit is {self._limits.body_bytes_max} bytes."
        )
