"""One keep-alive HTTP/1.1 client connection on llhttp; one answer at a time."""

import asyncio
from collections import deque
from typing import cast

import httptools

from heterodyne.bench.failure import BenchFailure, ExchangeFailed
from heterodyne.bench.response_reader import ResponseReader
from heterodyne.bench.unparsed import UnparsedPieces


class Connection(asyncio.Protocol):
    """Owned by the client's pool; `exchange` may be awaited again once it has returned."""

    def __init__(self, unparsed: UnparsedPieces) -> None:
        self._unparsed = unparsed
        self._pieces: deque[tuple[float, bytes]] = deque()  # read, and when; not parsed yet
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: ResponseReader | None = None
        self._finished: asyncio.Future[None] | None = None
        self._now_s = 0.0
        self._content_type = b""
        self._is_framed = False  # the head says where the body ends
        self.has_begun = False  # bytes of the present answer have arrived
        self.is_reusable = True

    async def exchange(self, request: bytes, answer: ResponseReader) -> None:
        """Send one request and feed its answer; raises ExchangeFailed."""
        assert self._transport is not None
        assert self._answer is None
        self._answer, self.has_begun = answer, False
        self._content_type, self._is_framed = b"", False
        self._finished = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            await self._finished
        finally:
            if self._answer is not None:  # cancelled or timed out: what still comes is not wanted
                self._answer = None
                self.abort()

    def abort(self) -> None:
        """Close now; nothing more is read."""
        self.is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_reusable = False
        while self._pieces:
            self.parse_next()
        if self._answer is None:
            return
        if not self.has_begun:
            self._fail(ExchangeFailed(BenchFailure.CLOSED, str(error or "closed before the answer began")))
        else:
            self._end(is_whole=not self._is_framed and error is None)

    def data_received(self, data: bytes) -> None:
        self._pieces.append((self._unparsed.clock(), data))
        self._unparsed.add(self)

    def parse_next(self) -> None:
        """Parse the oldest piece; its entry may outlive it, when the connection was lost in between."""
        if not self._pieces:
            return
        self._now_s, data = self._pieces.popleft()
        if self._answer is None:
            self.abort()  # bytes without a request: the connection cannot be trusted
            return
        self.has_begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(ExchangeFailed(BenchFailure.GARBAGE, f"not HTTP: {error}"))

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"content-type":
            self._content_type = value
        elif name in (b"content-length", b"transfer-encoding"):
            self._is_framed = True

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._answer is None or status < 200:
            return
        try:
            self._answer.head(status, self._content_type)
        except ExchangeFailed as failed:
            self._fail(failed)

    def on_body(self, body: bytes) -> None:
        if self._answer is None:
            return  # it failed earlier in the same read
        try:
            self._answer.data(body, self._now_s)
        except ExchangeFailed as failed:
            self._fail(failed)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() >= 200:
            self.is_reusable = self.is_reusable and self._parser.should_keep_alive()
            self._end(is_whole=True)

    def _end(self, *, is_whole: bool) -> None:
        answer = self._answer
        if answer is None:
            return
        try:
            answer.end(is_whole)
        except ExchangeFailed as failed:
            self._finish(failed)
        else:
            self._finish(None)
        if not self.is_reusable:
            self.abort()

    def _fail(self, failed: ExchangeFailed) -> None:
        self._finish(failed)
        self.abort()

    def _finish(self, failed: ExchangeFailed | None) -> None:
        finished, self._finished, self._answer = self._finished, None, None
        if finished is None or finished.done():
            return
        if failed is None:
            finished.set_result(None)
        else:
            finished.set_exception(failed)
