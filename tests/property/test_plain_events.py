"""Events that only add text are told without being read; the client must not be able to tell."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.forms.form import StreamForm
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.forms.responses_stream import ResponsesStream
from heterodyne.gateway.relay import StreamRelay
from heterodyne.wire.message import chunk

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


class Connection:
    """Takes what is sent."""

    speaks_chunked = True

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def writer(self) -> Callable[[bytes], None]:
        return self.sent.append


class Owner:
    """Nothing may break."""

    def stream_begins(self) -> None: ...
    def stream_complete(self) -> None: ...
    def stream_broken(self, error: Exception) -> None:
        raise error


class Slow:
    """A form that reads every event."""

    def __init__(self, form: StreamForm) -> None:
        self.events, self.error_event = form.events, form.error_event

    def plain(self, data: bytes, start: int, end: int) -> bytes:
        return b""


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
    reads = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=10))
    body = b'{"model":"m","input":"x","store":false}'
    request = Request(id="r", operation=Operation.CHAT, model="m", body=body, stream=True)
    told = [relayed(form, events, reads) for form in (FORMS[name](request), Slow(FORMS[name](request)))]
    assert told[0] == told[1]


def event(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def relayed(form: StreamForm, events: list[bytes], reads: list[int]) -> list[Any]:
    connection = Connection()
    relay = StreamRelay(connection, Owner(), lambda: 1.0, wants_usage=True, form=form)  # type: ignore[arg-type]
    rest, turn = list(events), 0
    while rest:
        count = reads[turn % len(reads)]
        some, rest, turn = rest[:count], rest[count:], turn + 1
        relay.on_framed(b"".join(map(chunk, some)), len(some))
    assert relay.events == len(events)
    payload = b"".join(re.sub(rb"^[0-9a-f]+\r\n|\r\n$", b"", one) for one in connection.sent).decode()
    return [normal(json.loads(line[6:])) for line in payload.split("\n") if line.startswith("data: ")]


def normal(value: Any) -> Any:
    """Without ids and times, which are new each time."""
    if isinstance(value, dict):
        return {key: normal(one) for key, one in value.items() if not key.endswith(("id", "_at"))}
    return [normal(one) for one in value] if isinstance(value, list) else value
