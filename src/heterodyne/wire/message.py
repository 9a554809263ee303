"""One HTTP request as the server side received it, and the bytes answers are framed with."""

from typing import Final, Protocol, final

from heterodyne.domain.errors import HeterodyneError

BODY_BYTES_ANY: Final = 1 << 62  # more than any that comes


class BodySink(Protocol):
    """Where a body goes piece by piece, so that it is never held."""

    bytes_max: int  # of the body; it holds in the place of the connection's own limit

    def write(self, piece: bytes | memoryview) -> None:
        """The next of it; raises HeterodyneError where no more of it is taken."""
        ...

    def discard(self) -> None:
        """Its request has ended: what nobody has taken over is not wanted any more."""
        ...


class HeadCheck:
    """What a handler makes of a head before any of the body is held."""

    __slots__ = ("body_bytes_max", "body_sink", "is_any_length", "refusal")

    def __init__(
        self,
        *,
        refusal: HeterodyneError | None = None,
        body_bytes_max: int = BODY_BYTES_ANY,
        body_sink: BodySink | None = None,
    ) -> None:
        self.refusal = refusal
        self.body_bytes_max = body_bytes_max  # the connection's own limit holds beside it; at 0 the body is read past
        self.body_sink = body_sink  # None: the body is held until its request ends
        self.is_any_length = False  # whether a refusal is told of a body, too, that would be too large to be held


ANY_BODY: Final = HeadCheck()


@final
class HttpRequest:
    """Head and body; header names are lower case, the values of equal names are joined as HTTP says.

    The reader makes it when the head is complete, and adds the body; from then on it does not change.
    """

    __slots__ = ("body", "head_check", "headers", "keep_alive", "method", "path", "query", "speaks_chunked")

    def __init__(
        self,
        *,
        method: bytes,
        path: bytes,
        query: bytes,
        headers: dict[bytes, bytes],
        keep_alive: bool,
        speaks_chunked: bool,
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.keep_alive = keep_alive
        self.speaks_chunked = speaks_chunked  # HTTP/1.1; an older client gets its stream delimited by close
        self.head_check: HeadCheck | None = None  # what the handler made of the head
        self.body = b""

    def let_go(self) -> int:
        """It has its answer, or nobody waits for one; how many bytes were held for it."""
        check = self.head_check
        if check is not None and check.body_sink is not None:
            check.body_sink.discard()
        return len(self.body)


class RequestSink(Protocol):
    """Where requests go: the connection."""

    def on_request(self, request: HttpRequest) -> None: ...

    def on_expect_continue(self) -> None:
        """The client waits for `100 Continue` before it sends the body."""
        ...

    def on_broken(self, problem: HeterodyneError) -> None:
        """The input cannot be trusted from here on; the reader takes no more of it."""
        ...


CHUNKS_END: Final = b"0\r\n\r\n"

REASONS: Final[dict[int, bytes]] = {
    200: b"OK",
    201: b"Created",
    202: b"Accepted",
    204: b"No Content",
    304: b"Not Modified",
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    408: b"Request Timeout",
    409: b"Conflict",
    413: b"Content Too Large",
    415: b"Unsupported Media Type",
    421: b"Misdirected Request",
    422: b"Unprocessable Content",
    429: b"Too Many Requests",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    501: b"Not Implemented",
    502: b"Bad Gateway",
    503: b"Service Unavailable",
    504: b"Gateway Timeout",
}


def status_line(status: int) -> bytes:
    """`HTTP/1.1 200 OK\\r\\n`"""
    return b"HTTP/1.1 %d %s\r\n" % (status, REASONS.get(status, b"Unknown"))


def chunk(payload: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(payload), payload)
