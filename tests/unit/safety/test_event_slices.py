"""Short events say together what a long one says."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.engines.collect_stream import chat_collector, text_collector
from heterodyne.safety.event_slices import sliced

CHARS = 5


def told(*events: bytes) -> Any:
    """The answer that a client puts together of them."""
    is_text = b'"text"' in events[0]
    collector = text_collector() if is_text else chat_collector()
    for event in events:
        collector.add(event)
    collector.add(b"[DONE]")
    return msgspec.json.decode(collector.whole())


def event(*choices: dict[str, Any], **members: Any) -> bytes:
    return msgspec.json.encode({"id": "c", "model": "m", "choices": list(choices), **members})


LONG = "abcdefghijklmnop"
CALL = {"index": 0, "id": "call_with_a_long_name", "type": "function", "function": {"name": LONG, "arguments": LONG}}
CASES = [
    event({"index": 0, "delta": {"role": "assistant", "content": LONG}, "finish_reason": None}),
    event({"index": 0, "delta": {"content": LONG, "reasoning": LONG * 2}, "finish_reason": "stop"}),
    event({"index": 0, "delta": {"tool_calls": [CALL, {**CALL, "index": 1}]}, "finish_reason": "tool_calls"}),
    event(
        {"index": 0, "delta": {"content": LONG}}, {"index": 1, "delta": {"content": "é" * 12}, "finish_reason": "stop"}
    ),
    event({"index": 0, "text": LONG, "finish_reason": "length"}),
    event({"index": 0, "delta": {"content": LONG}, "finish_reason": None}, usage={"prompt_tokens": 1}),
]


@pytest.mark.parametrize("data", CASES)
def test_they_say_the_same(data: bytes) -> None:
    events = sliced(data, CHARS)
    assert len(events) > 2
    assert told(*events) == told(data)


@pytest.mark.parametrize("data", CASES)
def test_none_says_more_than_it_may_and_the_end_comes_last(data: bytes) -> None:
    *before, _last = map(json.loads, sliced(data, CHARS))
    for one in before:
        for choice in one["choices"]:
            assert choice.get("finish_reason") is None
            holder = choice.get("delta", {"text": choice.get("text", "")})
            assert all(len(holder.get(name) or "") <= CHARS for name in ("content", "reasoning", "text"))
            for call in holder.get("tool_calls", ()):
                assert len(call["function"]["arguments"]) <= CHARS


@pytest.mark.parametrize(
    "data", [b"{", b"[1]", b'{"choices":[]}', b'{"choices":7}', event({"index": 0, "delta": {"content": "abc"}})]
)
def test_what_is_short_or_no_event_stays_what_it_is(data: bytes) -> None:
    assert sliced(data, CHARS) == [data]


def test_many_short_texts_are_several_events_too() -> None:
    calls = [{**CALL, "index": number, "function": {"name": "f", "arguments": "abc"}} for number in range(9)]
    choices = [{"index": number, "delta": {"content": "word"}} for number in range(4)]
    for data in (event({"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}), event(*choices)):
        events = sliced(data, CHARS)
        assert told(*events) == told(data)
        assert max(len("".join(re.findall('"(?:content|arguments)":"(.*?)"', one.decode()))) for one in events) <= CHARS


@given(text=st.text(max_size=60), chars=st.integers(1, 20))
def test_any_text_comes_through(text: str, chars: int) -> None:
    data = event({"index": 0, "delta": {"content": text}, "finish_reason": "stop"})
    assert told(*sliced(data, chars)) == told(data)
