"""What the JAX engine takes and what it refuses by name."""

import json

import pytest

from heterodyne.domain.errors import CallerError
from heterodyne.jax_engine.request_body import JaxChatRequest, JaxCompletionRequest, read_body, text_messages

ASK = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"tools": [{}]}, "tools"),
        ({"frequency_penalty": 1}, "frequency_penalty"),
        ({"repetition_penalty": 1.1}, "repetition_penalty"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"min_tokens": 4}, "min_tokens"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
    ],
)
def test_what_it_cannot_do_is_refused(fields: dict[str, object], name: str) -> None:
    body = read_body(json.dumps({"messages": ASK, **fields}).encode(), JaxChatRequest)
    with pytest.raises(CallerError, match=name):
        body.check()


def test_what_changes_nothing_is_taken() -> None:
    harmless = {"tools": [], "min_tokens": 4, "ignore_eos": True, "response_format": {"type": "text"}, "user": "u"}
    read_body(json.dumps({"messages": ASK, **harmless}).encode(), JaxChatRequest).check()


@pytest.mark.parametrize("prompt", ["text", [1, 2], ["one", "two"], [[1], [2, 3]]])
def test_prompts_come_in_four_forms(prompt: object) -> None:
    assert read_body(json.dumps({"prompt": prompt}).encode(), JaxCompletionRequest).prompt == prompt


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"prompt": 1}', b'{"prompt": "x", "max_tokens": 0}'])
def test_what_is_no_request_is_the_callers_mistake(body: bytes) -> None:
    with pytest.raises(CallerError):
        read_body(body, JaxCompletionRequest)


def test_messages_are_text_alone() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert text_messages([{"role": "user", "content": parts}])[0]["content"] == "ab"
    with pytest.raises(CallerError, match="text alone"):
        text_messages([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}])
