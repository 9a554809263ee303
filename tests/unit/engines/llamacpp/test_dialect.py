"""What llama.cpp does its own way."""

import msgspec
import pytest

from heterodyne.domain.errors import ContextExceeded, EngineBroke, EngineGarbage, EngineUnavailable, InvalidField
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.llamacpp.dialect import LlamaCppDialect
from heterodyne.ports.engine_request import EngineRequest

DIALECT = LlamaCppDialect()
REPLICA = Replica(
    id=ReplicaId("p-0"),
    pool=PoolName("p"),
    model="m",
    engine="llamacpp",
    host="h",
    port=1,
    base_path="/base",
    context_tokens=512,
)


def request(operation: Operation, body: bytes = b'{"model":"m"}', **fields: object) -> Request:
    return Request(id="1", operation=operation, model="m", body=body, **fields)  # type: ignore[arg-type]


CHAT = request(Operation.CHAT)


def test_a_whole_answer_is_asked_for_as_a_stream() -> None:
    call = DIALECT.call(CHAT, REPLICA)
    assert call.path == "/base/v1/chat/completions"
    assert msgspec.json.decode(call.body) == {"model": "m", "stream": True, "stream_options": {"include_usage": True}}


def test_a_stream_becomes_the_whole_answer_it_stands_for() -> None:
    chunks = [
        {"id": "c", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {"role": "assistant"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}}]},
        {"id": "c", "choices": [{"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}]},
        {"id": "c", "choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}},
    ]
    stream = b"".join(b"data: " + msgspec.json.encode(one) + b"\n\n" for one in chunks)
    answer = DIALECT.answer(CHAT, REPLICA, stream + b"data: [DONE]\n\n")
    assert isinstance(answer, bytes)
    decoded = msgspec.json.decode(answer)
    assert decoded["object"] == "chat.completion"
    assert decoded["usage"]["total_tokens"] == 6
    message = {"role": "assistant", "content": "ab", "refusal": None}
    assert decoded["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    with pytest.raises(EngineBroke):
        DIALECT.answer(CHAT, REPLICA, stream)


@pytest.mark.parametrize("body", [b"data: {\n\ndata: [DONE]\n\n", b"data: 7\n\n", b'data: {"choices":[{}]}\n\n'])
def test_a_stream_of_another_form_is_garbage(body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        DIALECT.answer(CHAT, REPLICA, body)


def test_a_prompt_is_tokenized_in_one_call() -> None:
    asked = request(Operation.TOKENIZE, b'{"model":"m","prompt":"hi","messages":null}')
    call = DIALECT.call(asked, REPLICA)
    assert call.path == "/base/tokenize"
    assert msgspec.json.decode(call.body) == {"content": "hi", "add_special": True, "parse_special": True}
    answer = DIALECT.answer(asked, REPLICA, b'{"tokens":[1,2,3]}')
    assert answer == b'{"count":3,"max_model_len":512,"tokens":[1,2,3]}'


def test_a_conversation_is_tokenized_behind_its_template() -> None:
    asked = request(Operation.TOKENIZE, b'{"model":"m","messages":[]}')
    call = DIALECT.call(asked, REPLICA)
    assert (call.path, call.body) == ("/base/apply-template", asked.body)
    then = DIALECT.answer(asked, REPLICA, b'{"prompt":"<user>hi"}')
    assert isinstance(then, EngineRequest)
    assert then.path == "/base/tokenize"
    assert msgspec.json.decode(then.body)["content"] == "<user>hi"


def test_tokens_become_the_text_under_the_customary_name() -> None:
    assert DIALECT.answer(request(Operation.DETOKENIZE), REPLICA, b'{"content":"hi"}') == b'{"prompt":"hi"}'
    for body in (b"[]", b"{}", b"", b"7"):
        with pytest.raises(EngineGarbage):
            DIALECT.answer(request(Operation.DETOKENIZE), REPLICA, body)


def test_vectors_of_another_length_than_asked_for_are_no_answer() -> None:
    asked = request(Operation.EMBEDDING, b'{"model":"m","input":"a","dimensions":2}', dimensions=2)
    assert DIALECT.answer(asked, REPLICA, b'{"data":[{"embedding":[1,2]}]}')
    with pytest.raises(InvalidField, match="have 3"):
        DIALECT.answer(asked, REPLICA, b'{"data":[{"embedding":[1,2,3]}]}')


def test_a_prompt_too_long_is_refused_with_both_numbers() -> None:
    body = b'{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":900,"n_ctx":512}}'
    error = DIALECT.refusal(request(Operation.COMPLETION), 400, body)
    assert isinstance(error, ContextExceeded)
    assert (error.param, error.message) == (
        "prompt",
        "The prompt has 900 tokens; the context of this model is 512 tokens.",
    )


def test_an_engine_that_still_loads_is_worth_another_try() -> None:
    error = DIALECT.refusal(CHAT, 503, b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}')
    assert isinstance(error, EngineUnavailable)
    assert error.retry_after_s == 2


def test_what_the_caller_did_wrong_is_not_called_the_engines_failure() -> None:
    error = DIALECT.refusal(CHAT, 500, b'{"error":{"message":"image input is not supported - hint","code":500}}')
    assert error.status == 400
