"""Hypothesis strategies: chats that providers with other words can be told and that can be read back from those."""

from typing import Any

import msgspec
from hypothesis import strategies as st

# JSON of a provider's goes through several parsers: no lone surrogates.
characters = st.characters(codec="utf-8", exclude_characters="\x00")
texts = st.text(characters, min_size=1, max_size=12)
names = st.sampled_from(["weather", "now", "search"])
scalars = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts
objects = st.dictionaries(texts, scalars | st.lists(scalars, max_size=3), max_size=3)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
EFFORTS = ("low", "medium", "high")
URLS = ("https://example.org/a.png", "data:image/png;base64,aGVsbG8=", "data:image/webp;base64,aGk=")


@st.composite
def _asked_turn(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"role": "user", "content": draw(texts)}
    picture = {"type": "image_url", "image_url": {"url": draw(st.sampled_from(URLS))}}
    words = [{"type": "text", "text": text} for text in draw(st.lists(texts, max_size=2))]
    return {"role": "user", "content": [*words, picture]}


@st.composite
def _said_turns(draw: st.DrawFn, first_call: int, *, has_results_as_text: bool) -> list[dict[str, Any]]:
    """A turn of the model's, with the results of what it called."""
    count = draw(st.integers(0, 3))
    text = draw(texts) if not count or draw(st.booleans()) else None
    turn: dict[str, Any] = {"role": "assistant", "content": text}
    results = []
    for number in range(count):
        call_id = f"call_{first_call + number}"
        arguments = msgspec.json.encode(draw(objects)).decode()
        function = {"name": draw(names), "arguments": arguments}
        turn.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
        result = draw(texts) if has_results_as_text else msgspec.json.encode(draw(objects)).decode()
        results.append({"role": "tool", "tool_call_id": call_id, "content": result})
    return [turn, *results]


@st.composite
def asked_chats(draw: st.DrawFn, *, temperature_max: float, has_results_as_text: bool) -> dict[str, Any]:
    """The body of an OpenAI chat."""
    messages: list[dict[str, Any]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(texts)})
    calls = 0
    for _ in range(draw(st.integers(0, 3))):
        messages.append(draw(_asked_turn()))
        said = draw(_said_turns(calls + 1, has_results_as_text=has_results_as_text))
        calls += len(said) - 1
        messages += said
    messages.append(draw(_asked_turn()))
    asked: dict[str, Any] = {"model": "m", "messages": messages, "max_tokens": draw(st.integers(1, 9000))}
    if draw(st.booleans()):
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
    if draw(st.booleans()):
        asked["temperature"] = draw(st.floats(0, temperature_max))
    if draw(st.booleans()):
        asked["top_p"] = draw(st.floats(0, 1))
    if draw(st.booleans()):
        asked["top_k"] = draw(st.integers(1, 100))
    if draw(st.booleans()):
        asked["stop"] = draw(st.lists(texts, min_size=1, max_size=3))
    if draw(st.booleans()):
        asked["reasoning_effort"] = draw(st.sampled_from(EFFORTS))
    if draw(st.booleans()):
        asked |= draw(_tools())
    return asked


@st.composite
def _tools(draw: st.DrawFn) -> dict[str, Any]:
    declared = [
        {"name": name, "parameters": SCHEMA} | ({"description": "It says."} if draw(st.booleans()) else {})
        for name in draw(st.sets(names, min_size=1))
    ]
    asked: dict[str, Any] = {"tools": [{"type": "function", "function": one} for one in declared]}
    if draw(st.booleans()):
        chosen = {"type": "function", "function": {"name": declared[0]["name"]}}
        asked["tool_choice"] = draw(st.sampled_from(["auto", "required", "none", chosen]))
    return asked
