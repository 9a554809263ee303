"""However the bytes of requests are cut on their way, the same requests are read."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import HeterodyneError
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest
from heterodyne.wire.request_reader import LONG_BODY_BYTES
from heterodyne.wire.server_connection import ServerConnection, ServerLedger
from tests.support.requests import chat, get, post
from tests.support.splits import bounded, splits

CHUNKED = (
    b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\ntrailer: z\r\n\r\n"
)
REQUESTS = [chat(), get("/v1/models?a=b", "x-a: 1", "x-b:  2 "), CHUNKED, post("/tokenize", b""), chat(seed=1)]
LONG = post("/v1/chat/completions", b"long" * (LONG_BODY_BYTES // 4))
BROKEN = [
    b"nonsense\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 5000 + b"\r\n\r\n",
]


class Recorder:
    """Answers everything at once and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = []

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> None:
        self.seen.append((request.method, request.path, request.query, tuple(request.headers.items()), request.body))
        connection.finish(b"%d;" % len(self.seen))

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None:
        self.seen.append((error.status,))
        connection.finish(b"refused")


def read(pieces: list[bytes]) -> tuple[list[tuple[object, ...]], bytes, int]:
    recorder, ledger = Recorder(), ServerLedger()
    limits = WireLimits(head_bytes_max=4096)
    transport = MemoryTransport(ServerConnection(recorder, limits, ledger, clock=lambda: 0.0))
    transport.feed(*pieces)
    transport.lose()
    return recorder.seen, transport.written, ledger.body_bytes


@bounded
@given(st.data(), st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=5))
def test_any_split_of_requests_is_read_the_same(data: st.DataObject, requests: list[bytes]) -> None:
    stream = b"".join(requests)
    pieces = data.draw(splits(stream))
    seen, written, held_bytes = read(pieces)
    assert seen == read([stream])[0]
    assert len(seen) == len(requests)
    assert written == b"".join(b"%d;" % number for number in range(1, len(requests) + 1))
    assert held_bytes == 0


@bounded
@given(st.data(), st.sampled_from(REQUESTS), st.sampled_from(REQUESTS))
def test_any_split_of_a_long_body_among_others_is_read_the_same(
    data: st.DataObject, before: bytes, behind: bytes
) -> None:
    stream = before + LONG + behind
    seen, written, held_bytes = read(data.draw(splits(stream)))
    assert seen == [*read([before])[0], *read([LONG])[0], *read([behind])[0]]
    assert written == b"1;2;3;"
    assert held_bytes == 0


@bounded
@given(st.data(), st.sampled_from(REQUESTS), st.sampled_from(BROKEN))
def test_any_split_of_a_broken_request_is_refused_the_same(
    data: st.DataObject, request_bytes: bytes, broken: bytes
) -> None:
    stream = request_bytes + broken + chat()
    seen, written, held_bytes = read(data.draw(splits(stream)))
    assert seen == read([stream])[0]
    assert len(seen) == 2, "what is behind it is not read"
    assert written == b"1;refused"
    assert held_bytes == 0


@bounded
@given(st.lists(st.binary(min_size=1, max_size=200), max_size=6))
def test_no_bytes_at_all_get_more_than_one_refusal_or_raise(pieces: list[bytes]) -> None:
    seen, _, held_bytes = read(pieces)
    assert sum(len(one) == 1 for one in seen) <= 1
    assert held_bytes == 0
