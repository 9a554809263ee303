"""What of a chat is scored, what form it asks for, and what of an answer is judged."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.routing.cascade.chat import (
    cheap_body,
    form_of,
    prompt_of,
    question_of,
    samples_body,
    try_answer,
    verifier_body,
    without_logprobs,
)
from heterodyne.testing.behaviours import chat_answer

PARTS = [{"type": "text", "text": "two"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
BODY = {
    "model": "big",
    "messages": [{"role": "system", "content": "one"}, {"role": "user", "content": PARTS}],
    "stream": True,
    "stream_options": {"include_usage": True},
    "seed": 7,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["messages", "tools", "response_format", "choices", "message", "content", "logprobs"])


def test_all_texts_are_the_prompt() -> None:
    assert prompt_of(BODY) == "one\ntwo"


def test_the_cheap_model_is_asked_for_a_whole_answer() -> None:
    asked = cheap_body(BODY, "small", with_logprobs=True)
    assert asked == {"model": "small", "messages": BODY["messages"], "seed": 7, "logprobs": True}
    assert samples_body(asked, 3) == {"model": "small", "messages": BODY["messages"], "n": 3, "temperature": 0.7}


def test_the_form_that_is_asked_for() -> None:
    schema = {"type": "object", "required": ["a"]}
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "required": ["at"]}}}
    assert form_of({"tools": [tool]}).tools == {"look": ("at",)}
    assert form_of({"response_format": {"type": "json_object"}}).is_json
    assert form_of({"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}).schema == schema
    plain = form_of(BODY)
    assert (plain.is_json, plain.schema, plain.tools) == (False, None, None)


def test_an_answer_with_what_came_beside_it() -> None:
    whole = chat_answer("four")
    whole["choices"][0]["logprobs"] = {"content": [{"token": "four", "logprob": -0.5}]}  # type: ignore[index]
    encoded = msgspec.json.encode(whole)
    answer = try_answer(encoded, msgspec.json.encode(chat_answer("five")), msgspec.json.encode(chat_answer("yes")))
    assert answer is not None
    assert (answer.text, answer.logprobs, answer.samples, answer.verdict) == ("four", (-0.5,), ("five",), "yes")
    assert msgspec.json.decode(without_logprobs(encoded))["choices"][0]["logprobs"] is None
    assert "four" in str(verifier_body("judge", "q", answer)["messages"])


@pytest.mark.parametrize("body", [b"", b"{}", b'{"choices":[]}', b'{"choices":[{"message":null}]}', b"[1]"])
def test_what_is_no_answer_is_none(body: bytes) -> None:
    assert try_answer(body) is None


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_whatever_stands_in_a_body_is_read(body: dict[str, object]) -> None:
    prompt_of(body)
    form_of(body)
    try_answer(msgspec.json.encode(body), msgspec.json.encode(body), msgspec.json.encode(body))


def test_the_question_is_what_the_user_said_last() -> None:
    turns = [
        {"role": "user", "content": "What is 1 + 1?"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": [{"type": "text", "text": "And 3"}, {"type": "text", "text": "times 4?"}]},
    ]
    assert question_of({"messages": turns}) == "And 3\ntimes 4?"
    assert question_of({"messages": turns[1:2]}) == ""
    assert question_of({}) == ""
