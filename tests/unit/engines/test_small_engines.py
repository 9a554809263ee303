"""What Ollama, MLX-LM, LMDeploy and JetStream do their own way."""

import msgspec
import pytest

from heterodyne.domain.errors import ContextExceeded, EngineGarbage, InvalidField
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.jetstream import JetStreamDialect
from heterodyne.engines.lmdeploy import LmdeployDialect
from heterodyne.engines.mlx_lm import MlxLmDialect
from heterodyne.engines.ollama import OllamaDialect
from tests.contract.written_pages import written
from tests.support.requests_copied import changed

OLLAMA, MLX, JETSTREAM = OllamaDialect(), MlxLmDialect(), JetStreamDialect()
REPLICA = Replica(
    id=ReplicaId("p-0"),
    pool=PoolName("p"),
    model="m",
    engine="any",
    host="h",
    port=1,
    base_path="/b",
    context_tokens=100,
)


def request(operation: Operation, **fields: object) -> Request:
    body = {"model": "m", **fields}
    limit = fields.get("max_tokens")
    return Request(
        id="cmpl-1",
        operation=operation,
        model="m",
        body=msgspec.json.encode(body),
        prompt_chars=len(str(fields.get("prompt", ""))),
        stream=bool(fields.get("stream")),
        output_tokens_max=limit if isinstance(limit, int) else None,
    )


def body_of(call_body: bytes) -> dict[str, object]:
    return msgspec.json.decode(call_body, type=dict[str, object])


def test_ollama_is_told_the_limit_by_the_name_it_knows() -> None:
    told = OLLAMA.call(request(Operation.CHAT, messages=[], max_completion_tokens=7), REPLICA)
    assert body_of(told.body)["max_tokens"] == 7
    both = request(Operation.CHAT, messages=[], max_completion_tokens=7, max_tokens=9)
    assert OLLAMA.call(both, REPLICA).body is both.body
    null = request(Operation.CHAT, messages=[], max_completion_tokens=None)
    assert OLLAMA.call(null, REPLICA).body is null.body


def test_a_prompt_that_ollama_would_surely_cut_is_refused() -> None:
    with pytest.raises(ContextExceeded, match="1601 characters; the context of this model is 100 tokens"):
        OLLAMA.call(request(Operation.COMPLETION, prompt="x" * 1601), REPLICA)
    unknown = msgspec.structs.replace(REPLICA, context_tokens=None)
    assert OLLAMA.call(request(Operation.COMPLETION, prompt="x" * 1601), unknown)
    assert OLLAMA.call(request(Operation.COMPLETION, prompt="x" * 1600), REPLICA)


def test_an_ollama_without_models_is_no_garbage() -> None:
    assert OLLAMA.read_models(b'{"object":"list","data":null}') == ()
    assert OLLAMA.read_load([b'{"models":[]}']).context_tokens is None


def test_mlx_is_not_sent_the_nulls_it_would_hang_up_on() -> None:
    call = MLX.call(request(Operation.CHAT, messages=[{"content": None}], temperature=None, top_p=0.5), REPLICA)
    assert body_of(call.body) == {"model": "m", "messages": [{"content": None}], "top_p": 0.5}
    inner = request(Operation.CHAT, messages=[{"content": None}])
    assert MLX.call(inner, REPLICA).body is inner.body


def test_mlx_is_not_asked_for_log_probabilities_it_would_hang_up_on() -> None:
    with pytest.raises(InvalidField) as refused:
        MLX.call(request(Operation.COMPLETION, prompt="x", logprobs=1), REPLICA)
    assert refused.value.param == "logprobs"
    assert MLX.call(request(Operation.COMPLETION, prompt="x", logprobs=False), REPLICA)


def test_an_answer_of_nothing_that_lmdeploy_ended_by_its_length_is_a_prompt_too_long() -> None:
    asked, lmdeploy = request(Operation.COMPLETION, prompt="x"), LmdeployDialect()
    empty = b'{"choices":[{"text":"","finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":0}}'
    with pytest.raises(ContextExceeded):
        lmdeploy.answer(asked, REPLICA, empty)
    for body in (empty.replace(b"length", b"stop"), empty.replace(b":0}", b":7}")):
        assert lmdeploy.answer(asked, REPLICA, body) is body


@pytest.mark.parametrize(
    ("prompt", "content"),
    [("why?", {"text_content": {"text": "why?"}}), ([1, 2], {"token_content": {"token_ids": [1, 2]}})],
)
def test_jetstream_is_asked_in_its_own_words(prompt: object, content: dict[str, object]) -> None:
    call = JETSTREAM.call(request(Operation.COMPLETION, prompt=prompt, max_tokens=3, temperature=0), REPLICA)
    assert call.path == "/b/v1/generate"
    assert body_of(call.body) == {"max_tokens": 3, **content}
    assert body_of(JETSTREAM.call(request(Operation.COMPLETION, prompt=prompt), REPLICA).body)["max_tokens"] == 16


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"stream": True}, "stream"),
        ({"stop": "x"}, "stop"),
        ({"logprobs": 0}, "logprobs"),
        ({"echo": True}, "echo"),
        ({"prompt": ["a", "b"]}, "prompt"),
        ({"prompt": []}, "prompt"),
    ],
)
def test_what_jetstream_cannot_do_is_refused(fields: dict[str, object], param: str) -> None:
    with pytest.raises(InvalidField) as refused:
        JETSTREAM.call(request(Operation.COMPLETION, **{"prompt": "x", **fields}), REPLICA)
    assert refused.value.param == param


def test_jetstreams_row_of_pieces_becomes_one_answer() -> None:
    asked = request(Operation.COMPLETION, prompt="x", max_tokens=2)
    answer = JETSTREAM.answer(asked, REPLICA, written("jetstream", "answer.txt"))
    assert isinstance(answer, bytes)
    [choice] = msgspec.json.decode(answer)["choices"]
    assert choice == {"index": 0, "text": " blue sky", "logprobs": None, "finish_reason": "length"}
    longer = changed(asked, output_tokens_max=9)
    answer = JETSTREAM.answer(longer, REPLICA, written("jetstream", "answer.txt"))
    assert isinstance(answer, bytes)
    assert msgspec.json.decode(answer)["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("body", [b"{", b"[1]", b"7", b'{"streamContent":7}', b"\xff", b"{} x", b"[" * 100_000])
def test_pieces_of_another_form_are_garbage(body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        JETSTREAM.answer(request(Operation.COMPLETION, prompt="x"), REPLICA, body)
