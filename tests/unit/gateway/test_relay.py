"""One stream, from an engine's pieces to a client's bytes."""

import pytest

from heterodyne.domain.errors import EngineError
from heterodyne.gateway.relay import EVENT_BYTES_MAX, StreamRelay
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
