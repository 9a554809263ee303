"""OpenAI's answers in Gemini's words."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import (
    EngineBroke,
    EngineGarbage,
    EnginesFull,
    HeterodyneError,
    InvalidField,
    UnknownModel,
)
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.forms import gemini
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.testing import behaviours

REQUEST = Request(id="r1", operation=Operation.CHAT, model="m", body=b"{}", stream=True)
CALL = {"index": 0, "id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Graz"}'}}
USAGE = behaviours.usage(20, 5) | {
    "prompt_tokens_details": {"cached_tokens": 16},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def whole(*choices: dict[str, Any]) -> Any:
    answer = {"choices": [{"index": index} | choice for index, choice in enumerate(choices)], "usage": USAGE}
    return json.loads(gemini.whole(REQUEST, json.dumps(answer).encode()))


def test_an_answer_has_its_candidates_and_what_was_used() -> None:
    found = whole({"message": {"content": "Hello."}, "finish_reason": "stop"}, {"message": {"content": "Hi."}})
    assert found["candidates"] == [
        {"content": {"role": "model", "parts": [{"text": "Hello."}]}, "index": 0, "finishReason": "STOP"},
        {"content": {"role": "model", "parts": [{"text": "Hi."}]}, "index": 1},
    ]
    assert (found["modelVersion"], found["responseId"]) == ("m", "r1")
    assert found["usageMetadata"] == {
        "promptTokenCount": 20,
        "candidatesTokenCount": 3,
        "totalTokenCount": 25,
        "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 16,
    }


def test_thoughts_words_and_calls_are_parts_in_this_order() -> None:
    message = {"reasoning_content": "Hm.", "content": "Let me see.", "tool_calls": [CALL]}
    [candidate] = whole({"message": message, "finish_reason": "tool_calls"})["candidates"]
    assert candidate["content"]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"text": "Let me see."},
        {"functionCall": {"id": "t1", "name": "weather", "args": {"city": "Graz"}}},
    ]
    assert candidate["finishReason"] == "STOP"


@pytest.mark.parametrize(("finish", "told"), [("length", "MAX_TOKENS"), ("content_filter", "SAFETY"), ("new", "STOP")])
def test_why_it_ended(finish: str, told: str) -> None:
    assert whole({"message": {"content": "x"}, "finish_reason": finish})["candidates"][0]["finishReason"] == told


@pytest.mark.parametrize("arguments", ["{", "[1]", '"x"'])
def test_a_call_that_is_none_is_the_engine_s_mistake(arguments: str) -> None:
    with pytest.raises(EngineGarbage):
        whole({"message": {"tool_calls": [CALL | {"function": {"name": "weather", "arguments": arguments}}]}})


@pytest.mark.parametrize("answer", [b"[]", b"{}", b'{"choices": [{}]}', b"no"])
@pytest.mark.parametrize("operation", [Operation.CHAT, Operation.COUNT, Operation.EMBEDDING])
def test_an_answer_that_is_none_is_the_engine_s_mistake(operation: Operation, answer: bytes) -> None:
    request = Request(id="r1", operation=operation, model="m", body=b"{}")
    with pytest.raises(EngineGarbage):
        gemini.whole(request, answer)


def test_counted_tokens_and_vectors() -> None:
    count, embed = (
        Request(id="r1", operation=operation, model="m", body=b"{}")
        for operation in (Operation.COUNT, Operation.EMBEDDING)
    )
    assert json.loads(gemini.whole(count, b'{"count": 7}')) == {"totalTokens": 7}
    one = b'{"data": [{"index": 0, "embedding": [0.5, 1.0]}]}'
    assert json.loads(gemini.whole(embed, one)) == {"embedding": {"values": [0.5, 1.0]}}
    assert json.loads(gemini.whole_batch(embed, one)) == {"embeddings": [{"values": [0.5, 1.0]}]}
    with pytest.raises(EngineGarbage):
        gemini.whole_batch(embed, b'{"data": [{"embedding": "text"}]}')


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidField("x: no.", param="x"), "INVALID_ARGUMENT"),
        (UnknownModel("no"), "NOT_FOUND"),
        (EnginesFull("no"), "UNAVAILABLE"),
        (EngineBroke("no"), "INTERNAL"),
    ],
)
def test_errors_are_google_s(error: HeterodyneError, status: str) -> None:
    body = json.loads(gemini.error_body(error))
    assert body == {"error": {"code": error.status, "message": error.message, "status": status}}
    assert json.loads(GeminiStream(REQUEST).error_event(error).removeprefix(b"data: ")) == body


def told(*events: object) -> list[Any]:
    stream, found = GeminiStream(REQUEST), b""
    for event in events:
        found += stream.events(b"data: " + (event if isinstance(event, bytes) else json.dumps(event).encode()))
    return [json.loads(one.removeprefix(b"data: ")) for one in found.split(b"\n\n")[:-1]]


def chunk(delta: dict[str, Any], finish_reason: str | None = None, index: int = 0) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish_reason}]}


def test_words_come_as_they_are_written_and_the_end_with_what_was_used() -> None:
    words = [chunk({"role": "assistant"}), chunk({"content": "Hel"}), chunk({"content": "lo"}, "stop")]
    events = told(*words, {"choices": [], "usage": USAGE}, b"[DONE]")
    parts = [event["candidates"][0]["content"]["parts"] for event in events]
    assert parts == [[{"text": "Hel"}], [{"text": "lo"}], []]
    assert ["finishReason" in event["candidates"][0] for event in events] == [False, False, True]
    assert events[-1]["usageMetadata"]["totalTokenCount"] == 25


def test_calls_come_whole_at_the_end() -> None:
    pieces = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"city":', ' "Graz"}')]
    events = told(
        chunk({"reasoning": "Hm"}),
        chunk({"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "weather"}}]}),
        *(chunk({"tool_calls": [piece]}) for piece in pieces),
        chunk({}, "tool_calls"),
        b"[DONE]",
    )
    assert events[0]["candidates"][0]["content"]["parts"] == [{"text": "Hm", "thought": True}]
    assert len(events) == 2
    [part] = events[-1]["candidates"][0]["content"]["parts"]
    assert part["functionCall"] == {"id": "t1", "name": "weather", "args": {"city": "Graz"}}
    assert "usageMetadata" not in events[-1], "the engine did not count"


def test_several_answers_side_by_side() -> None:
    events = told(chunk({"content": "a"}, "stop"), chunk({"content": "b"}, "length", 1), b"[DONE]")
    assert [(one["index"], one["finishReason"]) for one in events[-1]["candidates"]] == [(0, "STOP"), (1, "MAX_TOKENS")]
    assert GeminiStream(REQUEST).events(b": keep-alive") == b": keep-alive\n\n"
