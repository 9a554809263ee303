"""Signs of how good an answer is: refusals, tool calls, words said again and again."""

import msgspec
import pytest

from heterodyne.rollout.answer_signs import is_refusal, is_valid_call, sign_values, try_quality
from heterodyne.rollout.said import ANSWER_BYTES_MAX, CalledTool, Said, tools_of, try_read_said

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = {"weather": WEATHER}


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I am so sorry, but unfortunately I cannot do this for you.",
        "Sorry, I won't write that.",
        "I cannot provide instructions for that.",
        "I'm unable to assist with this.",
        "Unfortunately, I am not able to share personal data.",
        "As an AI language model, I cannot engage in that.",
        "I apologize, but I cannot fulfill this request.",
        "Es tut mir leid, aber ich kann dir dabei nicht helfen.",
        "Je suis désolé, mais je ne peux pas vous aider.",
        "Lo siento, pero no puedo ayudarte con eso.",
        "很抱歉，我无法提供这方面的帮助。",
    ],
)
def test_refusals_are_known_by_how_they_begin(text: str) -> None:
    assert is_refusal(text)
    assert is_refusal(f"\n {text}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris is the capital of France.",
        "I'm sorry to hear that you are ill. Drink much water.",
        "You cannot divide by zero, because no number times zero is one.",
        "I can help with that: first, open the file.",
        "The command failed because I/O cannot be done there.",
        "Here is the letter: 'I am sorry, but I cannot come to the party.'",
        "Sure! " + "word " * 100 + "I cannot help with that",
    ],
)
def test_other_answers_are_none(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("name", "arguments", "is_valid"),
    [
        ("weather", '{"city": "Graz"}', True),
        ("weather", '{"city": "Graz", "days": 3, "unit": "C"}', True),
        ("weather", '{"days": 3}', False),
        ("weather", '{"city": 7}', False),
        ("weather", '{"city": "Graz", "days": true}', False),
        ("weather", '{"city": "Graz", "planet": "Mars"}', False),
        ("weather", '{"city": "Gra', False),
        ("weather", '["Graz"]', False),
        ("weather", "", False),
        ("wether", '{"city": "Graz"}', False),
    ],
)
def test_a_call_names_a_tool_and_keeps_to_its_schema(name: str, arguments: str, is_valid: bool) -> None:
    assert is_valid_call(CalledTool(name, arguments), TOOLS) is is_valid


def test_a_tool_without_a_schema_takes_anything_that_is_an_object() -> None:
    assert is_valid_call(CalledTool("now", ""), {"now": {}})
    assert not is_valid_call(CalledTool("now", "now"), {"now": {}})
    assert is_valid_call(CalledTool("now", "{}"), {"now": {"required": "all", "properties": [1]}}), "no schema at all"


def test_an_answer_that_goes_round_in_circles_has_little_quality() -> None:
    words = " ".join(f"word{number}" for number in range(100))
    assert try_quality(words) == 1.0
    assert try_quality("the same four words " * 25) == pytest.approx(4 / 97)
    assert try_quality("too short to tell") is None


def event(delta: dict[str, object], finish: str | None = None, index: int = 0) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return b"data: " + msgspec.json.encode({"id": "x", "choices": [choice]}) + b"\n\n"


def test_a_stream_is_read_as_one_answer() -> None:
    calls = [
        event({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "weather", "arguments": ""}}]}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": '{"city":'}}]}),
        event({"tool_calls": [{"index": 1, "function": {"name": "now", "arguments": "{}"}}]}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": ' "Graz"}'}}]}, "tool_calls"),
        b'data: {"choices": [], "usage": {"completion_tokens": 3}}\n\n',
        b"data: [DONE]\n\n",
    ]
    said = try_read_said(b": a comment\n\n" + b"".join(calls), is_stream=True)
    assert said is not None
    assert said.calls == (CalledTool("weather", '{"city": "Graz"}'), CalledTool("now", "{}"))
    assert sign_values(said, {**TOOLS, "now": {}}) == {"refusals": 0.0, "invalid_tool_calls": 0.0}
    assert sign_values(said, TOOLS)["invalid_tool_calls"] == 1.0
    words = [event({"role": "assistant"}), event({"content": "I can"}), event({"content": "not help."}, "stop")]
    said = try_read_said(b"".join([*words, event({"content": "another choice"}, index=1)]), is_stream=True)
    assert said == Said(text="I cannot help.")
    assert sign_values(said, {}) == {"refusals": 1.0}


def test_a_whole_answer_is_read_alike() -> None:
    def whole(**choice: object) -> bytes:
        return msgspec.json.encode({"choices": [{"index": 0, **choice}], "usage": {}})

    assert try_read_said(whole(message={"content": "Paris."}), is_stream=False) == Said(text="Paris.")
    assert try_read_said(whole(text="Paris."), is_stream=False) == Said(text="Paris.")
    declined = try_read_said(whole(message={"content": None, "refusal": "No."}), is_stream=False)
    assert declined == Said(text="No.", is_declined=True)
    filtered = try_read_said(whole(message={"content": ""}, finish_reason="content_filter"), is_stream=False)
    assert filtered is not None
    assert sign_values(filtered, {}) == {"refusals": 1.0}
    called = try_read_said(
        whole(message={"tool_calls": [{"function": {"name": "weather", "arguments": "{}"}}]}), is_stream=False
    )
    assert called == Said(calls=(CalledTool("weather", "{}"),))


@pytest.mark.parametrize("answer", [b"", b"no JSON", b"[1]", b'{"choices": []}', b'{"choices": [{"index": "a"}]}'])
def test_what_nobody_can_read_says_nothing(answer: bytes) -> None:
    assert try_read_said(answer, is_stream=False) is None
    assert try_read_said(b"data: " + answer + b"\n\n", is_stream=True) is None
    long = b'{"choices": [{"text": "' + b"a" * ANSWER_BYTES_MAX + b'"}]}'
    assert try_read_said(long, is_stream=False) is None


def test_the_tools_of_a_request_are_read_from_its_body() -> None:
    body = msgspec.json.encode(
        {
            "model": "m",
            "tools": [
                {"type": "function", "function": {"name": "weather", "parameters": WEATHER}},
                {"type": "function", "function": {"name": "now"}},
                {"type": "web_search"},
            ],
        }
    )
    assert tools_of(body) == {"weather": WEATHER, "now": {}}
    assert tools_of(b'{"model": "m"}') == {}
