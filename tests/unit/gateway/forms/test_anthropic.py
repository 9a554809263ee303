"""OpenAI's answers in Anthropic's words."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import (
    EngineBroke,
    EngineGarbage,
    EnginesFull,
    HeterodyneError,
    InvalidField,
    Unauthenticated,
    UnknownModel,
)
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.testing import behaviours

REQUEST = Request(id="r1", operation=Operation.CHAT, model="m", body=b"{}", stream=True)
CALL = {"index": 0, "id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Graz"}'}}


def whole(message: dict[str, Any], finish_reason: str = "stop", **more: Any) -> Any:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish_reason} | more
    usage = behaviours.usage(20, 5) | {"prompt_tokens_details": {"cached_tokens": 16}}
    return json.loads(ANTHROPIC.whole(REQUEST, json.dumps({"choices": [choice], "usage": usage}).encode()))


def test_an_answer_is_a_message() -> None:
    assert whole({"content": "Hello."}) == {
        "id": "msg_r1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 4,
            "output_tokens": 5,
            "cache_read_input_tokens": 16,
            "cache_creation_input_tokens": 0,
        },
    }


def test_tokens_of_thoughts_are_told_apart() -> None:
    usage = behaviours.usage(20, 5) | {"completion_tokens_details": {"reasoning_tokens": 3}}
    answer = behaviours.chat_answer() | {"usage": usage}
    found = json.loads(ANTHROPIC.whole(REQUEST, json.dumps(answer).encode()))["usage"]
    assert (found["output_tokens"], found["output_tokens_details"]) == (5, {"thinking_tokens": 3})


def test_tokens_that_were_written_to_a_cache_are_told_apart() -> None:
    usage = behaviours.usage(20, 5) | {"prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 4}}
    answer = behaviours.chat_answer() | {"usage": usage}
    found = json.loads(ANTHROPIC.whole(REQUEST, json.dumps(answer).encode()))["usage"]
    assert (found["input_tokens"], found["cache_read_input_tokens"], found["cache_creation_input_tokens"]) == (10, 6, 4)


def test_thoughts_words_and_calls_are_blocks_in_this_order() -> None:
    found = whole({"reasoning_content": "Hm.", "content": "Let me see.", "tool_calls": [CALL]}, "tool_calls")
    assert found["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Graz"}},
    ]
    assert found["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("finish", "more", "stop"),
    [
        ("length", {}, ("max_tokens", None)),
        ("content_filter", {}, ("refusal", None)),
        ("stop", {"stop_reason": "END"}, ("stop_sequence", "END")),
        ("stop", {"stop_reason": 128009}, ("end_turn", None)),
        ("something new", {}, ("end_turn", None)),
    ],
)
def test_why_it_ended(finish: str, more: dict[str, Any], stop: tuple[str, str | None]) -> None:
    found = whole({"content": "x"}, finish, **more)
    assert (found["stop_reason"], found["stop_sequence"]) == stop


@pytest.mark.parametrize("arguments", ["{", "[1]", '"x"'])
def test_a_call_that_is_none_is_the_engine_s_mistake(arguments: str) -> None:
    with pytest.raises(EngineGarbage):
        whole({"tool_calls": [CALL | {"function": {"name": "weather", "arguments": arguments}}]})


@pytest.mark.parametrize("answer", [b"[]", b"{}", b'{"choices": [{}]}', b'{"choices": "no"}', b"no"])
def test_an_answer_that_is_none_is_the_engine_s_mistake(answer: bytes) -> None:
    with pytest.raises(EngineGarbage):
        ANTHROPIC.whole(REQUEST, answer)


def test_counted_tokens() -> None:
    request = Request(id="r1", operation=Operation.COUNT, model="m", body=b"{}")
    assert json.loads(ANTHROPIC.whole(request, b'{"count": 7, "tokens": [1]}')) == {"input_tokens": 7}
    with pytest.raises(EngineGarbage):
        ANTHROPIC.whole(request, b'{"tokens": [1]}')


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidField("x: no.", param="x"), "invalid_request_error"),
        (Unauthenticated("no"), "authentication_error"),
        (UnknownModel("no"), "not_found_error"),
        (EnginesFull("no"), "overloaded_error"),
        (EngineBroke("no"), "api_error"),
    ],
)
def test_errors_are_anthropic_s(error: HeterodyneError, kind: str) -> None:
    assert json.loads(ANTHROPIC.error_body(error)) == {
        "type": "error",
        "error": {"type": kind, "message": error.message},
    }


def told(*events: object) -> list[tuple[str, Any]]:
    """What a stream of these becomes."""
    stream, found = AnthropicStream(REQUEST), b""
    for event in events:
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        found += stream.events(b"data: " + data)
    return parsed(found)


def parsed(stream: bytes) -> list[tuple[str, Any]]:
    events = []
    for block in stream.split(b"\n\n")[:-1]:
        name, data = block.split(b"\n")
        assert name.startswith(b"event: ")
        assert json.loads(data.removeprefix(b"data: "))["type"] == name[7:].decode()
        events.append((name[7:].decode(), json.loads(data.removeprefix(b"data: "))))
    return events


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def test_words_are_one_block() -> None:
    usage = {"choices": [], "usage": behaviours.usage(7, 2)}
    events = told(
        chunk({"role": "assistant"}), chunk({"content": "Hel"}), chunk({"content": "lo"}, "stop"), usage, b"[DONE]"
    )
    assert [name for name, _ in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[0][1]["message"]["id"] == "msg_r1"
    assert [data["delta"]["text"] for name, data in events if name == "content_block_delta"] == ["Hel", "lo"]
    assert events[-2][1]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert (events[-2][1]["usage"]["input_tokens"], events[-2][1]["usage"]["output_tokens"]) == (7, 2)


def test_every_block_begins_and_ends_in_its_turn() -> None:
    piece = {"index": 0, "function": {"arguments": ' "Graz"}'}}
    events = told(
        chunk({"reasoning": "Hm"}),
        chunk({"content": "Let me see."}),
        chunk({"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "weather", "arguments": '{"city":'}}]}),
        chunk({"tool_calls": [piece]}),
        chunk({"tool_calls": [{"index": 1, "id": "t2", "function": {"name": "now", "arguments": "{}"}}]}),
        chunk({}, "tool_calls"),
        b"[DONE]",
    )
    starts = [data["content_block"]["type"] for name, data in events if name == "content_block_start"]
    assert starts == ["thinking", "text", "tool_use", "tool_use"]
    opened = None
    for name, data in events:
        if name == "content_block_start":
            assert opened is None
            opened = data["index"]
        elif name in ("content_block_delta", "content_block_stop"):
            assert data["index"] == opened
            opened = None if name == "content_block_stop" else opened
    numbers = [data["index"] for name, data in events if name == "content_block_start"]
    assert numbers == [0, 1, 2, 3]
    pieces = [data["delta"].get("partial_json", "") for name, data in events if name == "content_block_delta"]
    assert "".join(pieces) == '{"city": "Graz"}{}'
    assert events[-2][1]["delta"]["stop_reason"] == "tool_use"


def test_an_empty_answer_and_a_comment() -> None:
    assert [name for name, _ in told(b"[DONE]")] == ["message_start", "message_delta", "message_stop"]
    assert AnthropicStream(REQUEST).events(b": keep-alive") == b": keep-alive\n\n"
    [(name, data)] = parsed(AnthropicStream(REQUEST).error_event(EngineBroke("it broke")))
    assert (name, data["error"]["message"]) == ("error", "it broke")
