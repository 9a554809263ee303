"""An event stream is put together into the answer that it stands for."""

from typing import Any

import msgspec
import pytest

from heterodyne.engines.collect_stream import chat_collector

Json = dict[str, Any]


def calls(*pieces: Json) -> list[Json]:
    """What calls an answer has whose events bring these pieces."""
    collector = chat_collector()
    for piece in pieces:
        collector.add(
            msgspec.json.encode({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **piece}]}}]})
        )
    collector.add(b"[DONE]")
    answer = msgspec.json.decode(collector.whole())
    found: list[Json] = answer["choices"][0]["message"]["tool_calls"]
    return found


CUSTOM = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}


@pytest.mark.parametrize(
    "pieces",
    [
        (CUSTOM,),
        (
            {"id": "c", "type": "custom", "custom": {"name": "shell", "input": ""}},
            {"custom": {"input": "ls "}},
            {"custom": {"input": "-l"}},
        ),
        ({"id": "c", "type": "custom"}, {"custom": {"name": "shell"}}, {"custom": {"input": "ls -l"}}),
        ({"id": "c"}, {"type": "custom", "custom": {"name": "shell", "input": "ls -l"}}),
        ({"id": "c", "custom": None}, {"custom": {"name": "shell", "input": "ls -l"}}),
    ],
)
def test_a_custom_call_comes_whole_or_in_pieces(pieces: tuple[Json, ...]) -> None:
    assert calls(*pieces) == [CUSTOM]


def test_a_function_call_is_what_it_was() -> None:
    first = {"id": "f", "type": "function", "function": {"name": "read", "arguments": ""}}
    whole = {"id": "f", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    assert calls(first, {"function": {"arguments": "{"}}, {"function": {"arguments": "}"}}) == [whole]


def test_a_call_of_both_kinds_hides_neither() -> None:
    (said,) = calls({"id": "b", "function": {"name": "read", "arguments": "{}"}}, {"custom": CUSTOM["custom"]})
    assert said["function"] == {"name": "read", "arguments": "{}"}
    assert said["custom"] == CUSTOM["custom"]
    (other,) = calls(CUSTOM, {"function": {"name": "read", "arguments": "{}"}})
    assert other == {**CUSTOM, "function": {"name": "read", "arguments": "{}"}}
