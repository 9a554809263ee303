"""One stream, from an engine's pieces to a client's bytes."""

import asyncio

import pytest

from heterodyne.domain.errors import EngineError
from heterodyne.gateway.relay import EVENT_BYTES_MAX, FIRST_EVENTS, QUICK_S, StreamRelay
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest, chunk
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n'
DONE = b"data: [DONE]\n\n"


class Stream:
    """A relay to a client in memory; remembers how it ended."""

    def __init__(self, *, version: bytes = b"1.1", wants_usage: bool = False) -> None:
        self.ends: list[str] = []
        self.connection = ServerConnection(self, WireLimits(), ServerLedger(), clock=lambda: 0.0)
        self._client = MemoryTransport(self.connection)
        self._client.feed(b"GET / HTTP/%b\r\nhost: x\r\n\r\n" % version)
        self.relay = StreamRelay(self.connection, self, lambda: 5.0, wants_usage=wants_usage)

    @property
    def written(self) -> bytes:
        return self._client.written

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: object, connection: object) -> "Stream":
        return self

    def refuse(self, error: object, connection: object) -> None: ...
    def stream_begins(self) -> None: ...
    def stream_complete(self) -> None:
        self.ends.append("complete")

    def stream_broken(self, error: EngineError) -> None:
        self.ends.append(error.code)


def test_a_plain_token_passes_as_the_bytes_that_came() -> None:
    stream = Stream()
    stream.relay.on_framed(chunk(TOKEN), 1)
    stream.relay.on_framed(chunk(TOKEN) + chunk(TOKEN), 2)
    assert stream.written == chunk(TOKEN) * 3
    assert (stream.relay.events, stream.relay.bytes_sent) == (3, 3 * len(chunk(TOKEN)))
    assert stream.relay.first_at_s == stream.relay.last_at_s == 5.0


def test_usage_is_read_and_withheld_or_passed_on() -> None:
    for wants_usage, expected in ((False, TOKEN + DONE), (True, TOKEN + USAGE + DONE)):
        stream = Stream(version=b"1.0", wants_usage=wants_usage)
        stream.relay.on_framed(chunk(TOKEN) + chunk(USAGE) + chunk(DONE), 3)
        stream.relay.on_end()
        assert stream.written == expected
        assert stream.ends == ["complete"]
        assert stream.relay.usage is not None
        assert stream.relay.usage.prompt_tokens == 7


def test_a_word_cut_by_chunks_is_still_seen() -> None:
    stream = Stream(version=b"1.1")
    stream.relay.on_framed(chunk(USAGE[:22]) + chunk(USAGE[22:]), 2)
    stream.relay.on_framed(chunk(b"data: [DO") + chunk(b"NE]\n\n"), 2)
    stream.relay.on_end()
    assert stream.written == chunk(DONE)
    assert stream.ends == ["complete"]


def test_an_unfinished_event_waits_for_its_end() -> None:
    stream = Stream()
    stream.relay.on_payload(TOKEN[:30])
    assert stream.written == b""
    stream.relay.on_framed(chunk(TOKEN[30:]), 1)
    assert stream.written == chunk(TOKEN)


def test_comments_and_named_events_pass() -> None:
    stream = Stream(version=b"1.0")
    stream.relay.on_payload(b": ping\n\nevent: x\ndata: y\n\n" + DONE)
    stream.relay.on_end()
    assert stream.written == b": ping\n\nevent: x\ndata: y\n\n" + DONE
    assert stream.ends == ["complete"]


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (TOKEN, "engine_broke"),
        (TOKEN + b'data: {"cho', "engine_broke"),
        (DONE + b"da", "engine_broke"),
        (b"<html>", "engine_garbage"),
        (b"<html>\n\n", "engine_garbage"),
        (b"data: nothing\n\n", "engine_garbage"),
        (b"data: " + b"x" * EVENT_BYTES_MAX, "engine_garbage"),
    ],
)
def test_what_is_not_a_whole_stream_does_not_end_as_one(payload: bytes, code: str) -> None:
    stream = Stream()
    stream.relay.on_payload(payload)
    if not stream.ends:
        stream.relay.on_end()
    assert stream.ends == [code]


def test_an_edit_takes_the_place_of_events() -> None:
    stream = Stream(version=b"1.0")
    edited = StreamRelay(
        stream.connection, stream, lambda: 0.0, wants_usage=True, edit=lambda data: (data,) * (data != b"{}")
    )
    edited.on_framed(chunk(b"data: {}\n\n" + TOKEN), 1)
    edited.on_framed(chunk(b"data: [DONE]\n\n"), 1)
    assert stream.written == TOKEN + DONE


class Timed(Stream):
    """A stream whose clock the test holds; a list of what was written at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 5.0
        self.relay = StreamRelay(self.connection, self, lambda: self.now_s, wants_usage=True)
        self.writes: list[bytes] = []
        self._client.write = self.writes.append  # type: ignore[method-assign,assignment]  # a stream writes bytes

    def tokens(self, count: int, apart_s: float) -> None:
        for _ in range(count):
            self.relay.on_framed(chunk(TOKEN), 1)
            self.now_s += apart_s


def test_tokens_of_a_usual_stream_wait_for_nothing() -> None:
    stream = Timed()
    stream.tokens(20, apart_s=1.01 * QUICK_S)
    assert stream.writes == [chunk(TOKEN)] * 20


def test_tokens_of_a_quick_stream_leave_together_but_for_the_first_ones() -> None:
    async def run() -> None:
        stream = Timed()
        stream.tokens(FIRST_EVENTS + 9, apart_s=QUICK_S / 4)
        assert stream.writes[:FIRST_EVENTS] == [chunk(TOKEN)] * FIRST_EVENTS
        assert 2 <= max(map(len, stream.writes)) // len(chunk(TOKEN)) <= 5
        stream.relay.on_framed(chunk(DONE), 1)
        stream.relay.on_end()
        stream.connection.finish_stream()
        assert b"".join(stream.writes) == chunk(TOKEN) * (FIRST_EVENTS + 9) + chunk(DONE) + b"0\r\n\r\n"
        assert len(stream.writes) < FIRST_EVENTS + 9

    asyncio.run(run())
