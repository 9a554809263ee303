"""The ways a request of the benchmark can fail; each word is a key of the report."""

from enum import StrEnum


class BenchFailure(StrEnum):
    """Closed, so that reports of two runs can be compared."""

    REFUSED = "refused"  # nothing listens there
    UNREACHABLE = "unreachable"  # no name, no route, no TLS
    TIMEOUT = "timeout"
    CLOSED = "closed"  # connection closed before the answer began
    HTTP_3XX = "http_3xx"
    HTTP_4XX = "http_4xx"
    HTTP_429 = "http_429"
    HTTP_5XX = "http_5xx"
    BROKEN_STREAM = "broken_stream"  # ended without [DONE]
    BROKEN_ANSWER = "broken_answer"  # connection closed in the middle of a whole answer
    ERROR_EVENT = "error_event"  # an error event in the stream
    GARBAGE = "garbage"  # bytes that are not the promised protocol


class ExchangeFailed(Exception):
    """One request did not get its answer."""

    def __init__(self, failure: BenchFailure, detail: str) -> None:
        super().__init__(f"{failure}: {detail}")
        self.failure = failure
        self.detail = detail


def failure_of_status(status: int) -> BenchFailure:
    """The word for an HTTP status other than 2xx."""
    if status == 429:
        return BenchFailure.HTTP_429
    if status >= 500:
        return BenchFailure.HTTP_5XX
    return BenchFailure.HTTP_4XX if status >= 400 else BenchFailure.HTTP_3XX
