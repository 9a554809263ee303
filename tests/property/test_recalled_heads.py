"""A head that is known by the one before it says what it would have said, had it been parsed."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.client_connection import ClientConnection
from tests.property.test_request_splits import read
from tests.support.splits import bounded

LINES = [b"POST /v1/chat/completions HTTP/1.1", b"POST /v1/chat/completions?a HTTP/1.1", b"POST /x HTTP/1.0"]
VALUES = [b"", b" ", b" 1", b"  2 ", b" a b", b"\ta", b" a\t", b" caf\xc3\xa9", b" \x00", b" a\nb: c", b" a\r\n folded"]
NAMES = [b"x-trace", b"X-Trace", b"cookie", b"accept", b"connection", b"expect", b"host", b"transfer-encoding"]
MEANINGS = [b" close", b" keep-alive", b" 100-continue", b" h2c", b" x", b" y", b" chunked", b" identity"]
LENGTHS = [b" 4", b" 04", b"4", b" +4", b" 4 ", b" 5", b" 4, 4", b" 99999999999999999999", b" x"]

plain_fields = st.tuples(st.sampled_from(NAMES[:3]), st.sampled_from(VALUES))
odd_fields = st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES + MEANINGS))
bodies = st.sampled_from([b"", b"body", b"bodyX"])


def one_of_few(*few: bytes) -> st.SearchStrategy[bytes]:
    """Mostly the first, as most heads of a connection are alike."""
    return st.one_of(st.just(few[0]), st.just(few[0]), st.sampled_from(few))


def head(line: bytes, fields: list[tuple[bytes, bytes]]) -> bytes:
    return b"\r\n".join([line, *(b"%b:%b" % field for field in fields), b"", b""])


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    fields = [(b"host", draw(one_of_few(b" x", b" y", b"x", b" bad host")))]
    fields += draw(st.lists(st.one_of(plain_fields, odd_fields), max_size=2))
    fields.append((b"content-length", draw(one_of_few(*LENGTHS))))
    return head(draw(one_of_few(*LINES)), fields) + draw(one_of_few(b"body", b"", b"bodyX"))


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    fields = draw(st.lists(st.one_of(plain_fields, odd_fields), max_size=2))
    fields.append((b"content-length", draw(one_of_few(*LENGTHS))))
    line = draw(one_of_few(b"HTTP/1.1 200 OK", b"HTTP/1.1 404 Not Found", b"HTTP/1.0 200 OK", b"HTTP/1.1 100 Go"))
    return head(line, fields) + draw(bodies)


@bounded
@given(st.lists(requests(), min_size=2, max_size=5), st.integers(1, 5))
def test_requests_are_read_as_if_each_head_were_parsed(pieces: list[bytes], times: int) -> None:
    pieces = [piece for piece in pieces for _ in range(times)]
    cut = [part for piece in pieces for part in (piece[:1], piece[1:])]  # no head is whole: nothing is recalled
    assert read(pieces) == read(cut)


class Sender:
    """Listens to one answer."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def is_idle(self, _: ClientConnection) -> None:
        self.heard.append("idle")

    def is_closed(self, _: ClientConnection) -> None: ...

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self.heard.append((status, dict(headers)))

    def on_framed(self, data: bytes, chunks: int) -> None:
        self.heard.append(data)

    def on_payload(self, data: bytes) -> None:
        self.heard.append(data)

    def on_end(self) -> None:
        self.heard.append("end")

    def on_failure(self, error: Exception) -> None:
        self.heard.append(str(error))


def exchange(sender: Sender, connection: ClientConnection, transport: MemoryTransport, answer: bytes) -> list[object]:
    sender.heard.clear()
    connection.send(sender, b"GET / HTTP/1.1\r\n\r\n", b"")
    transport.feed(answer)
    return [*sender.heard, connection.is_open]


def connect() -> tuple[Sender, ClientConnection, MemoryTransport]:
    sender = Sender()
    connection = ClientConnection(sender)
    return sender, connection, MemoryTransport(connection)


@bounded
@given(st.lists(answers(), min_size=2, max_size=5), st.integers(1, 3))
def test_answers_are_read_as_if_each_head_were_parsed(pieces: list[bytes], times: int) -> None:
    kept = connect()
    for answer in [piece for piece in pieces for _ in range(times)]:
        heard = exchange(*kept, answer)
        assert heard == exchange(*connect(), answer)
        if not kept[1].is_open or kept[1].listener is not None:
            break  # the answer was not whole, or the connection is not used again
