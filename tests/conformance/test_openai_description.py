"""Real answers of the embedded models, held against the schemas OpenAI publishes."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from heterodyne.testing.serve_process import ServeProcess

CHAT = {"model": "smollm2-135m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2, "temperature": 0}
TEXT = {"model": "smollm2-135m", "prompt": "Once", "max_tokens": 2, "temperature": 0}
PARAMETERS = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
TOOLS = {
    "tools": [{"type": "function", "function": {"name": "tell", "parameters": PARAMETERS}}],
    "tool_choice": "required",
    "max_tokens": 40,
}
LOGPROBS = {"logprobs": True, "top_logprobs": 2}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}

Check = Callable[[str, Any], None]
Ask = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def ask(served: ServeProcess) -> Ask:
    """Status and body of a call; a GET without fields, else a POST of them."""

    def ask(path: str, **fields: Any) -> tuple[int, str]:
        request = urllib.request.Request(
            served.url + path,
            data=json.dumps(fields).encode() if fields else None,
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=100) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return ask


@pytest.mark.parametrize(
    ("schema", "path", "fields"),
    [
        ("CreateChatCompletionResponse", "/v1/chat/completions", CHAT),
        ("CreateChatCompletionResponse", "/v1/chat/completions", {**CHAT, **LOGPROBS}),
        ("CreateChatCompletionResponse", "/v1/chat/completions", {**CHAT, "n": 2}),
        ("CreateChatCompletionResponse", "/v1/chat/completions", {**CHAT, **TOOLS}),
        ("CreateCompletionResponse", "/v1/completions", TEXT),
        ("CreateCompletionResponse", "/v1/completions", {**TEXT, "logprobs": 2}),
        ("CreateEmbeddingResponse", "/v1/embeddings", {"model": "all-minilm-l6-v2", "input": ["a", "b"]}),
        ("ListModelsResponse", "/v1/models", {}),
        ("Model", "/v1/models/smollm2-135m", {}),
    ],
    ids=["chat", "logprobs", "choices", "tools", "text", "text logprobs", "embeddings", "models", "model"],
)
def test_a_whole_answer_is_what_openai_describes(
    check: Check, ask: Ask, schema: str, path: str, fields: dict[str, Any]
) -> None:
    status, body = ask(path, **fields)
    assert status == 200, body
    check(schema, json.loads(body))


@pytest.mark.parametrize("fields", [{}, LOGPROBS, {"n": 2}, TOOLS], ids=["chat", "logprobs", "choices", "tools"])
def test_every_chunk_of_a_stream_is_what_openai_describes(check: Check, ask: Ask, fields: dict[str, Any]) -> None:
    status, body = ask("/v1/chat/completions", **{**CHAT, **STREAM, **fields})
    assert status == 200, body
    *events, last, nothing = body.split("\n\n")
    assert (last, nothing) == ("data: [DONE]", "")
    assert events
    for event in events:
        check("CreateChatCompletionStreamResponse", json.loads(event.removeprefix("data: ")))


@pytest.mark.parametrize(
    ("status", "path", "fields"),
    [
        (400, "/v1/chat/completions", {**CHAT, "messages": "hi"}),
        (400, "/v1/chat/completions", {**CHAT, "messages": [{"role": "user", "content": "word " * 3000}]}),
        (404, "/v1/chat/completions", {**CHAT, "model": "gpt-9"}),
        (404, "/v1/models/gpt-9", {}),
        (404, "/v1/nothing", {}),
        (405, "/v1/models", CHAT),
    ],
)
def test_an_error_is_what_openai_describes(
    check: Check, ask: Ask, status: int, path: str, fields: dict[str, Any]
) -> None:
    answered, body = ask(path, **fields)
    assert answered == status
    check("ErrorResponse", json.loads(body))
