"""What reading requests costs, and what is made of headers that come twice."""

import tracemalloc

import pytest

from heterodyne.domain.errors import HeterodyneError
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.request_reader import LONG_BODY_BYTES, RequestReader
from heterodyne.wire.server_connection import ServerLedger

GET = b"GET / HTTP/1.1\r\nhost: x\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


class Reading:
    """A reader and what it made of its input."""

    def __init__(self, check: HeadCheck = ANY_BODY) -> None:
        self.requests: list[HttpRequest] = []
        self.problems: list[str] = []
        self.ledger = ServerLedger()
        self._check = check
        self.reader = RequestReader(self, lambda *_: self._check, WireLimits(), self.ledger, lambda: 0.0)

    def on_request(self, request: HttpRequest) -> None:
        self.requests.append(request)

    def on_expect_continue(self) -> None: ...

    def on_broken(self, problem: HeterodyneError) -> None:
        self.problems.append(problem.code)


def test_a_body_in_tiny_chunks_takes_its_own_size_of_memory() -> None:
    pieces, piece = 64, b"2\r\n{}\r\n" * 8192
    size = pieces * 8192 * 2
    reading = Reading()
    reading.reader.feed(CHUNKED)
    tracemalloc.start()
    try:
        for _ in range(pieces):
            reading.reader.feed(piece)
        assert reading.ledger.body_bytes == size
        reading.reader.feed(b"0\r\n\r\n")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reading.requests[0].body == b"{}" * (size // 2)
    assert peak_bytes < 2.5 * size


def test_a_body_that_may_not_come_is_read_past() -> None:
    reading = Reading(HeadCheck(body_bytes_max=0))
    reading.reader.feed(GET + b"content-length: 4\r\n\r\nab")
    assert reading.ledger.body_bytes == 0
    reading.reader.feed(b"cd" + GET + b"\r\n")
    assert [request.body for request in reading.requests] == [b"", b""]


def test_a_body_larger_than_its_sender_may_send_is_refused() -> None:
    reading = Reading(HeadCheck(body_bytes_max=10))
    reading.reader.feed(CHUNKED + b"8\r\n12345678\r\n")
    assert reading.ledger.body_bytes == 8
    reading.reader.feed(b"8\r\n12345678\r\n")
    assert reading.problems == ["body_too_large"]
    assert reading.ledger.body_bytes == 0


def long_head(more: bytes = b"") -> bytes:
    return b"POST / HTTP/1.1\r\nhost: x\r\n%bcontent-length: %d\r\n\r\n" % (more, LONG_BODY_BYTES)


@pytest.mark.parametrize("cut", [0, 1, 1000, LONG_BODY_BYTES - 1])
def test_behind_a_long_body_the_next_request_is_read(cut: int) -> None:
    reading, body = Reading(), b"long" * (LONG_BODY_BYTES // 4)
    reading.reader.feed(long_head() + body[:cut])
    assert reading.reader.body_bytes_left == LONG_BODY_BYTES - cut
    reading.reader.feed_body(memoryview(body)[cut : cut + 1000])
    reading.reader.feed(body[cut + 1000 :] + long_head() + body + GET + b"\r\n")
    assert [request.body for request in reading.requests] == [body, body, b""]
    assert not reading.problems
    assert reading.ledger.body_bytes == 2 * len(body), "until their requests end"


def test_behind_a_long_body_that_is_the_last_nothing_is_read() -> None:
    reading, body = Reading(), b"x" * LONG_BODY_BYTES
    reading.reader.feed(long_head(b"connection: close\r\n"))
    reading.reader.feed_body(memoryview(body))
    reading.reader.feed(GET + b"\r\n")
    assert ([request.body for request in reading.requests], reading.problems) == ([body], ["malformed_http"])


def test_a_long_body_is_held_within_its_limit_and_given_back() -> None:
    reading = Reading(HeadCheck(body_bytes_max=1000))
    reading.reader.feed(long_head())
    reading.reader.feed_body(memoryview(b"x" * 600))
    assert reading.ledger.body_bytes == 600
    reading.reader.feed_body(memoryview(b"x" * 600))
    assert (reading.problems, reading.ledger.body_bytes) == (["body_too_large"], 0)
    reading.reader.feed(b"x" * LONG_BODY_BYTES)
    assert not reading.requests


@pytest.mark.parametrize("is_same", [True, False])
def test_headers_are_counted_as_they_arrive(is_same: bool) -> None:
    lines = [b"x: y\r\n" if is_same else b"x-%d: y\r\n" % number for number in range(102)]
    reading = Reading()
    reading.reader.feed(GET + b"".join(lines))
    assert reading.problems == ["head_too_large"], "before the head is complete"
    reading = Reading()
    reading.reader.feed(GET + b"".join(lines[:99]) + b"\r\n")
    assert (len(reading.requests), reading.problems) == (1, [])


@pytest.mark.parametrize(
    ("name", "value"), [("accept", b"a, b"), ("cookie", b"a; b"), ("x-forwarded-for", b"a, b"), ("connection", b"a, b")]
)
def test_a_header_that_may_come_twice_has_both_values(name: str, value: bytes) -> None:
    reading = Reading()
    reading.reader.feed(GET + f"{name}: a\r\n{name.title()}: b\r\n\r\n".encode())
    assert reading.requests[0].headers[name.encode()] == value


@pytest.mark.parametrize("name", ["authorization", "content-type", "host", "expect", "x-heterodyne-deadline-ms"])
def test_a_header_that_one_reader_may_believe_first_and_another_last_may_come_once(name: str) -> None:
    reading = Reading()
    reading.reader.feed(GET + f"{name}: a\r\n{name.title()}: a\r\n\r\n".encode())
    assert (reading.requests, reading.problems) == ([], ["malformed_http"])


def test_versions_may_change_on_a_connection() -> None:
    reading = Reading()
    reading.reader.feed(GET + b"\r\n" + GET.replace(b"1.1", b"1.0") + b"\r\n")
    assert [request.speaks_chunked for request in reading.requests] == [True, False]
    assert [request.keep_alive for request in reading.requests] == [True, False]


def test_an_empty_host_is_a_host() -> None:
    reading = Reading()
    reading.reader.feed(b"GET / HTTP/1.1\r\nhost:\r\n\r\n")
    assert reading.requests[0].speaks_chunked
