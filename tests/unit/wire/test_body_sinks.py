"""Bodies that go to a sink: nothing of them is held, and their limits are their own."""

import asyncio

import pytest

from heterodyne.domain.errors import HeterodyneError, InvalidField, Unauthenticated
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import HeadCheck, HttpRequest
from heterodyne.wire.request_body import STRETCH_BYTES
from heterodyne.wire.server_connection import ServerConnection, ServerLedger
from heterodyne.wire.unread import SLICE_BYTES

LIMITS = WireLimits(body_bytes_max=1000, bodies_bytes_max=2000, body_timeout_s=20)


class Sink:
    """Remembers what it was given."""

    def __init__(self, bytes_max: int = 10 << 20) -> None:
        self.bytes_max = bytes_max
        self.pieces: list[bytes] = []
        self.discarded = 0
        self.problem: HeterodyneError | None = None

    def write(self, piece: bytes | memoryview) -> None:
        if self.problem is not None:
            raise self.problem
        self.pieces.append(bytes(piece))

    def discard(self) -> None:
        self.discarded += 1


class Client:
    """A connection whose handler has bodies written to a sink."""

    def __init__(self, sink: Sink | None, refusal: HeterodyneError | None = None) -> None:
        self.now_s = 0.0
        self.check = HeadCheck(body_sink=sink, refusal=refusal)
        self.asked: list[HttpRequest] = []
        self.refused: list[int] = []
        self.ledger = ServerLedger()
        self.connection = ServerConnection(self, LIMITS, self.ledger, clock=lambda: self.now_s)
        self.transport = MemoryTransport(self.connection)

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return self.check

    def handle(self, request: HttpRequest, connection: ServerConnection) -> "Client":
        self.asked.append(request)
        if self.check.refusal is not None:
            self.refuse(self.check.refusal, connection)
        return self

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        self.refused.append(error.status)
        connection.finish(b"refused")

    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.connection.check(self.now_s)


def head(size: int) -> bytes:
    return b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % size


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_body_goes_to_its_sink_and_takes_nothing_of_the_budget(is_chunked: bool) -> None:
    sink, body = Sink(), bytes(range(256)) * 2000
    client = Client(sink)
    if is_chunked:
        sent = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        sent += b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        sent = head(len(body)) + body
    client.transport.feed(sent + head(0)[:10])
    async with asyncio.timeout(10):
        while not client.asked:
            assert client.ledger.body_bytes == 0
            await asyncio.sleep(0)
    assert b"".join(sink.pieces) == body
    assert max(map(len, sink.pieces)) <= SLICE_BYTES, "others are served between two slices"
    assert (client.asked[0].body, client.ledger.body_bytes, sink.discarded) == (b"", 0, 0)
    client.connection.finish(b"done")
    assert sink.discarded == 1, "what nobody took over is let go"


async def test_a_sink_has_a_limit_of_its_own() -> None:
    sink = Sink(bytes_max=5000)
    client = Client(sink)
    client.transport.feed(head(5001))
    assert (client.refused, sink.pieces, sink.discarded) == ([413], [], 1)
    chunked = Client(Sink(bytes_max=5000))
    chunked.transport.feed(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1389\r\n" + b"x" * 5001)
    assert chunked.refused == [413]


@pytest.mark.parametrize(("is_any_length", "status"), [(True, 401), (False, 413)])
def test_a_refusal_may_go_before_a_length_that_is_too_large(is_any_length: bool, status: int) -> None:
    client = Client(None, Unauthenticated("no"))
    client.check.is_any_length = is_any_length
    client.transport.feed(head(1_000_000) + b"x" * 500)
    assert client.refused == [status]


def test_what_a_sink_raises_is_the_answer() -> None:
    sink = Sink()
    client = Client(sink)
    client.transport.feed(head(5000) + b"x" * 10)
    sink.problem = InvalidField("no")
    client.transport.feed(b"x" * 10)
    assert (client.refused, sink.discarded, client.asked) == ([400], 1, [])


def test_a_client_that_leaves_has_its_sink_discarded() -> None:
    sink = Sink()
    client = Client(sink)
    client.transport.feed(head(5000) + b"x" * 10)
    client.connection.connection_lost(None)
    assert sink.discarded == 1


def test_one_that_waits_behind_another_is_discarded_with_it() -> None:
    sink = Sink()
    client = Client(sink)
    client.transport.feed(head(3) + b"abc" + head(3) + b"def")
    assert (len(client.asked), sink.pieces) == (1, [b"abc", b"def"])
    client.connection.connection_lost(None)
    assert sink.discarded == 2


async def test_a_long_body_has_its_time_for_each_stretch() -> None:
    client = Client(Sink())
    client.transport.feed(head(10 * STRETCH_BYTES))
    for _ in range(4):
        for _ in range(STRETCH_BYTES // SLICE_BYTES):
            client.transport.feed(b"x" * SLICE_BYTES)
        client.wait(19)
        assert client.refused == []
    client.transport.feed(b"x" * 100)  # a trickle is no progress
    client.wait(20)
    assert client.refused == []
    client.wait(0.1)
    assert client.refused == [408]
