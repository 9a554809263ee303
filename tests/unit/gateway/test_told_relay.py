"""One stream in another API's words: what of it is told at once, and what is looked into."""

from collections.abc import Callable
from itertools import count

import pytest

from heterodyne.domain.errors import EngineError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.forms.form import StreamForm
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.forms.responses_growing import NUMBERS_MAX
from heterodyne.gateway.forms.responses_stream import ResponsesStream
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.chunks import unframe
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest, chunk
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
ENDED = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
FAILED = b'data: {"error":{"message":"out of memory"}}\n\n'
FORMS: list[Callable[[Request], StreamForm]] = [AnthropicStream, GeminiStream, ResponsesStream]


def token(text: bytes) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % text


class Told:
    """A relay to a client in memory; remembers what was written at once, and how it ended."""

    def __init__(self, form: Callable[[Request], StreamForm]) -> None:
        self.ends: list[str] = []
        self.writes: list[bytes] = []
        self.connection = ServerConnection(self, WireLimits(), ServerLedger(), clock=lambda: 0.0)
        client = MemoryTransport(self.connection)
        client.feed(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        client.write = self.writes.append  # type: ignore[method-assign,assignment]  # a stream writes bytes
        body = b'{"model":"m","input":"x","store":false}'
        request = Request(id="r", operation=Operation.CHAT, model="m", body=body, stream=True)
        # A second passes between events, so that none waits for the next.
        clock = map(float, count(5)).__next__
        self.relay = ToldRelay(self.connection, self, clock, wants_usage=True, form=form(request))

    def read(self, *events: bytes) -> bytes:
        """These events come at once; what the client is told of them, in one write."""
        before = len(self.writes)
        self.relay.on_framed(b"".join(map(chunk, events)), len(events))
        (told,) = self.writes[before:]
        return unframe(told)

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: object, connection: object) -> "Told":
        return self

    def refuse(self, error: object, connection: object) -> None: ...
    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...
    def stream_begins(self) -> None: ...
    def stream_complete(self) -> None:
        self.ends.append("complete")

    def stream_broken(self, error: EngineError) -> None:
        self.ends.append(f"{error.code} after {len(self.writes)} writes")


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_at_once_is_told_at_once(form: Callable[[Request], StreamForm]) -> None:
    told = Told(form)
    whole = told.read(ROLE, *map(token, (b"a", b"b", b"c")), token(b'\\"'), *map(token, (b"d", b"e")), ENDED, DONE)
    told.relay.on_end()
    assert told.ends == ["complete"]
    assert told.relay.events == 9
    places = [whole.index(b'"%b"' % text) for text in (b"a", b"b", b"c", b'\\"', b"d", b"e")]
    assert places == sorted(places)


@pytest.mark.parametrize("form", FORMS)
def test_one_token_is_one_event(form: Callable[[Request], StreamForm]) -> None:
    told = Told(form)
    told.read(ROLE, token(b"first"))
    for text in (b"a", b"b\\n", b"c" * 300, b"d"):
        assert told.read(token(text)).count(b"data: ") == 1
    assert told.read(token(b"e"), token(b"f" * 300), token(b"g")).count(b"data: ") == 3


@pytest.mark.parametrize("form", FORMS)
def test_what_came_before_a_break_is_told_before_it(form: Callable[[Request], StreamForm]) -> None:
    told = Told(form)
    assert b'"b"' in told.read(ROLE, *map(token, (b"a", b"b")), *[token(b'\\"')] * 4, FAILED)
    assert told.ends == ["engine_broke after 1 writes"]


def test_text_that_is_no_json_does_not_end_as_if_it_were() -> None:
    told = Told(ResponsesStream)
    told.read(ROLE, token(b"a"))
    told.read(token(b"\\x"))
    told.relay.on_framed(chunk(ENDED) + chunk(DONE), 2)
    assert told.ends == ["engine_garbage after 2 writes"]


def test_events_of_a_long_stream_have_their_numbers() -> None:
    told = Told(ResponsesStream)
    told.read(ROLE, token(b"a"))
    told.read(*[token(b"b")] * (NUMBERS_MAX - 10))
    last = told.read(*map(token, [b"c"] * 20))
    numbers = [int(part.split(b",")[0]) for part in last.split(b'"sequence_number":')[1:]]
    assert numbers == list(range(numbers[0], numbers[0] + 20))
    assert numbers[0] < NUMBERS_MAX < numbers[-1]
