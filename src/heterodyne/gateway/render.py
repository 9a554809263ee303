"""Answers as bytes: heads, error bodies in the shape of each protocol, and the error event of a stream that broke."""

from collections.abc import Callable
from email.utils import formatdate
from typing import Final

import msgspec

from heterodyne.domain.errors import EngineRefused, HeterodyneError, MethodNotAllowed
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.wire.message import status_line

JSON: Final = b"content-type: application/json\r\n"
TEXT: Final = b"content-type: text/plain; version=0.0.4; charset=utf-8\r\n"
EVENTS: Final = b"content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
CLOSE: Final = b"connection: close\r\n"
# Of answers that pass as they come.
PASSED_TYPES: Final = (
    *(b"audio/", b"application/json", b"application/octet-stream", b"application/x-subrip"),
    *(b"text/event-stream", b"text/plain", b"text/srt", b"text/vtt"),
)
OK: Final = status_line(200)
RETRY_AFTER_S: Final = 1  # where nobody knows better
UNPRICED: Final = float("inf")


class IdentityHeaders:
    """The headers by which an answer can be traced, and its date, which is formatted once a second. One per worker."""

    def __init__(self, wall_clock: Callable[[], float]) -> None:
        self.wall_clock = wall_clock
        self._second = 0
        self._date = b""

    def of(self, request_id: str) -> bytes:
        """Those of the answer to this request."""
        second = int(self.wall_clock())
        if second != self._second:
            self._second = second
            self._date = b"date: %b\r\n" % formatdate(second, usegmt=True).encode()
        encoded = request_id.encode()
        return b"x-request-id: %b\r\nx-heterodyne-request-id: %b\r\n%b" % (encoded, encoded, self._date)


def whole(status: int, headers: bytes, body: bytes, *, keeps_alive: bool, is_head: bool = False) -> bytes:
    """A complete answer with its length; one to HEAD has the length and not the body."""
    line = OK if status == 200 else status_line(status)
    close = b"" if keeps_alive else CLOSE
    return b"%b%b%bcontent-length: %d\r\n\r\n%b" % (line, headers, close, len(body), b"" if is_head else body)


def whole_head(status: int, headers: bytes, size: int, *, keeps_alive: bool) -> bytes:
    """The head of a complete answer whose body is written behind it."""
    close = b"" if keeps_alive else CLOSE
    return b"%b%b%bcontent-length: %d\r\n\r\n" % (status_line(status), headers, close, size)


def stream_head(headers: bytes, *, chunked: bool, keeps_alive: bool) -> bytes:
    """The head of an answer whose length is not known yet."""
    framing = b"transfer-encoding: chunked\r\n" if chunked else b""
    return OK + headers + framing + (b"" if keeps_alive else CLOSE) + b"\r\n"


def media_line(media_type: bytes) -> bytes:
    """What an engine says its answer is; whatever a browser might run is bytes."""
    known = media_type if media_type.lower().startswith(PASSED_TYPES) else b"application/octet-stream"
    return b"content-type: %b\r\n" % known


def decision_header(choice: RoutingChoice) -> bytes:
    """Why the replica was chosen and what the request should take there, in short."""
    forecast = choice.forecast
    ttft_ms, itl_ms, usd = forecast.ttft_s * 1000.0, forecast.itl_s * 1000.0, forecast.usd
    if usd < UNPRICED:
        return b"x-heterodyne-decision: %b; ttft=%.0fms; itl=%.1fms; usd=%.8f\r\n" % (
            choice.reason.encode(),
            ttft_ms,
            itl_ms,
            usd,
        )
    return b"x-heterodyne-decision: %b; ttft=%.0fms; itl=%.1fms\r\n" % (choice.reason.encode(), ttft_ms, itl_ms)


def model_header(model: str) -> bytes:
    """The model that answers in the place of the one that was asked for."""
    return b"x-heterodyne-model: %b\r\n" % model.encode()


def error_body(error: HeterodyneError) -> bytes:
    """OpenAI's error shape."""
    code = error.code
    if isinstance(error, EngineRefused) and error.engine_code:
        code = error.engine_code
    openai_type = "invalid_request_error" if 400 <= error.status < 500 else error.openai_type
    if error.status in (401, 403):
        openai_type = "authentication_error"
    elif error.status == 429:
        openai_type = "rate_limit_error"
    return msgspec.json.encode(
        {"error": {"message": error.message, "type": openai_type, "param": error.param, "code": code}}
    )


def plain_error_body(error: HeterodyneError) -> bytes:
    """The Open Inference Protocol's error shape: a sentence and nothing else."""
    return msgspec.json.encode({"error": error.message})


def error_headers(error: HeterodyneError) -> bytes:
    """What the status promises: when to come back, which methods there are, how to authenticate."""
    headers = JSON
    retry_after_s = error.retry_after_s
    if retry_after_s is None and error.status == 503:
        retry_after_s = RETRY_AFTER_S
    if retry_after_s is not None:
        headers += b"retry-after: %d\r\n" % retry_after_s
    if isinstance(error, MethodNotAllowed):
        headers += b"allow: %b\r\n" % error.allow.encode()
    if error.status == 401:
        headers += b"www-authenticate: Bearer\r\n"
    return headers


def error_event(error: HeterodyneError) -> bytes:
    """The last event of a stream that cannot be completed; clients raise on it, and no [DONE] follows."""
    return b"data: %b\n\n" % error_body(error)
