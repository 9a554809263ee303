"""Events that only add text are told without being read; the client must not be able to tell."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import EngineError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.forms.form import StreamForm
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.forms.plain_text import PlainText
from heterodyne.gateway.forms.responses_stream import ResponsesStream
from heterodyne.gateway.told_relay import ToldRelay
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.chunks import unframe
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest, chunk
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

FORMS: dict[str, Callable[[Request], StreamForm]] = {
    "anthropic": AnthropicStream,
    "gemini": GeminiStream,
    "responses": ResponsesStream,
}
TEXTS = st.text(max_size=12) | st.sampled_from(['"', "\\", 'a"', "a\\", "\\\\", '","content":"', "ä\n", "\u2028", "}"])
DELTAS = st.one_of(
    TEXTS.map(lambda text: {"content": text}),
    TEXTS.map(lambda text: {"content": text}),
    TEXTS.map(lambda text: {"content": text}),
    TEXTS.map(lambda text: {"reasoning_content": text}),
    TEXTS.map(lambda text: {"content": text, "reasoning_content": text}),
    st.just({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}),
)
SPACES = st.sampled_from([(",", ":"), (", ", ": ")])


class Client:
    """One in memory, to whom a stream is relayed; nothing may break."""

    def __init__(self) -> None:
        self.connection = ServerConnection(self, WireLimits(), ServerLedger(), clock=lambda: 0.0)
        self._transport = MemoryTransport(self.connection)
        self._transport.feed(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")

    @property
    def payload(self) -> bytes:
        return unframe(self._transport.written)

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: object, connection: object) -> "Client":
        return self

    def refuse(self, error: object, connection: object) -> None: ...
    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...
    def stream_begins(self) -> None: ...
    def stream_complete(self) -> None: ...
    def stream_broken(self, error: EngineError) -> None:
        raise error


class Slow:
    """A form that reads every event."""

    def __init__(self, form: StreamForm) -> None:
        self.events, self.error_event = form.events, form.error_event
        self.plain_text = PlainText(b"content")  # which learns nothing

    def told(self, texts: list[bytes]) -> bytes:
        raise AssertionError("no event is plain")


@pytest.mark.parametrize("name", list(FORMS))
@given(data=st.data())
def test_events_are_the_same_whether_they_were_read_or_not(name: str, data: st.DataObject) -> None:
    deltas = data.draw(st.lists(DELTAS, max_size=20))
    is_ascii, separators = data.draw(st.booleans()), data.draw(SPACES)
    events = [
        b"data: %b\n\n"
        % json.dumps(event(delta), ensure_ascii=is_ascii, separators=separators).encode("utf-8", "replace")
        for delta in deltas
    ]
    ended = event({}, finish_reason="stop")
    events += [b"data: %b\n\n" % json.dumps(ended).encode(), b"data: [DONE]\n\n"]
    reads = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=10))
    body = b'{"model":"m","input":"x","store":false}'
    request = Request(id="r", operation=Operation.CHAT, model="m", body=body, stream=True)
    told = [relayed(form, events, reads) for form in (FORMS[name](request), Slow(FORMS[name](request)))]
    assert told[0] == told[1]


def event(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def relayed(form: StreamForm, events: list[bytes], reads: list[int]) -> list[Any]:
    client = Client()
    clock = map(float, count(1)).__next__  # a second passes between reads, so that none waits for the next
    relay = ToldRelay(client.connection, client, clock, wants_usage=True, form=form)
    rest, turn = list(events), 0
    while rest:
        size = reads[turn % len(reads)]
        some, rest, turn = rest[:size], rest[size:], turn + 1
        relay.on_framed(b"".join(map(chunk, some)), len(some))
    assert relay.events == len(events)
    return [normal(json.loads(line[6:])) for line in client.payload.decode().split("\n") if line.startswith("data: ")]


def normal(value: Any) -> Any:
    """Without ids and times, which are new each time."""
    if isinstance(value, dict):
        return {key: normal(one) for key, one in value.items() if not key.endswith(("id", "_at"))}
    return [normal(one) for one in value] if isinstance(value, list) else value
