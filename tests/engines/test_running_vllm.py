"""The contract of the dialects against a real vLLM: what it says of itself, refuses, and takes up again."""

import http.client
import time
from collections.abc import Callable

import msgspec
import pytest

from heterodyne.domain.errors import ContextExceeded, EngineRefused, EngineUnavailable
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.ports.engine import DeliveredText
from tests.engines.running_vllm import CONTEXT_TOKENS, DIALECT, MODEL, RunningVllm
from tests.support.requests_copied import changed

pytestmark = pytest.mark.timeout(600)
REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model=MODEL, engine="vllm", host="h", port=1)
SEA = [{"role": "user", "content": "Tell me three facts about the sea."}]


def chat(**fields: object) -> Request:
    return _request(Operation.CHAT, {"messages": SEA, **fields})


def text(**fields: object) -> Request:
    return _request(Operation.COMPLETION, {"prompt": "The sea is", **fields})


def _request(operation: Operation, fields: dict[str, object]) -> Request:
    body = msgspec.json.encode({"model": MODEL, "temperature": 0, **fields})
    return Request(id="1", operation=operation, model=MODEL, body=body, stream=bool(fields.get("stream")))


def content(vllm: RunningVllm, request: Request) -> str:
    status, body = vllm.ask(DIALECT.call(request, REPLICA))
    assert status == 200, body
    choice = msgspec.json.decode(body)["choices"][0]
    return str(choice["message"]["content"] if request.operation is Operation.CHAT else choice["text"])


def test_it_is_ready_and_tells_its_model_with_the_context_it_takes(vllm: RunningVllm) -> None:
    assert DIALECT.is_ready(*vllm.get(DIALECT.health_path))
    assert DIALECT.models_path
    [model] = DIALECT.read_models(vllm.get(DIALECT.models_path)[1])
    assert (model.name, model.context_tokens, model.parent) == (MODEL, CONTEXT_TOKENS, None)


def test_it_tells_its_load_its_memory_and_what_it_has_counted(vllm: RunningVllm) -> None:
    before = vllm.load()
    status, body = vllm.ask(DIALECT.call(chat(max_tokens=5), REPLICA))
    usage = msgspec.json.decode(body)["usage"]
    assert (status, usage["completion_tokens"]) == (200, 5)
    load = vllm.load()
    assert (load.running, load.waiting, load.kv_share, load.adapters, load.is_asleep) == (0, 0, 0.0, (), False)
    assert (load.output_tokens or 0) - (before.output_tokens or 0) == 5
    assert (load.prefix_query_tokens or 0) - (before.prefix_query_tokens or 0) == usage["prompt_tokens"]
    assert load.block_tokens
    # One gibibyte was set aside; 30 layers, 3 heads of 64, keys and values, 4 bytes: 45 KiB a token.
    assert load.kv_tokens == pytest.approx(2**30 / (30 * 3 * 64 * 2 * 4), rel=0.02)
    assert load.started_at_s == pytest.approx(time.time(), abs=3600)


def test_a_long_prompt_asked_again_is_counted_as_a_hit(vllm: RunningVllm) -> None:
    before, request = vllm.load(), text(prompt="The sea is wide. " * 100, max_tokens=1)
    content(vllm, request)
    content(vllm, request)
    load = vllm.load()
    hits = (load.prefix_hit_tokens or 0) - (before.prefix_hit_tokens or 0)
    queries = (load.prefix_query_tokens or 0) - (before.prefix_query_tokens or 0)
    computed = (load.prompt_tokens or 0) - (before.prompt_tokens or 0)
    assert queries / 3 < hits < queries / 2
    assert computed == queries - hits


def test_a_stream_ends_with_its_usage_though_the_client_did_not_ask(vllm: RunningVllm) -> None:
    status, body = vllm.ask(DIALECT.call(chat(stream=True, max_tokens=6), REPLICA))
    events = [event.removeprefix(b"data: ") for event in body.split(b"\n\n") if event]
    assert (status, events[-1]) == (200, b"[DONE]")
    last = msgspec.json.decode(events[-2])
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 6)


def test_its_refusals_are_understood(vllm: RunningVllm) -> None:
    def refusal(request: Request) -> Exception:
        status, body = vllm.ask(DIALECT.call(request, REPLICA))
        assert status != 200, body
        return DIALECT.refusal(request, status, body)

    too_long = refusal(chat(messages=[{"role": "user", "content": "word " * 2 * CONTEXT_TOKENS}]))
    assert isinstance(too_long, ContextExceeded)
    assert f"maximum context length is {CONTEXT_TOKENS} tokens" in too_long.message
    assert isinstance(refusal(text(prompt="word " * 2 * CONTEXT_TOKENS)), ContextExceeded)
    assert isinstance(refusal(chat(max_tokens=2 * CONTEXT_TOKENS)), ContextExceeded)
    for wrong in (chat(messages="hello"), chat(n=0), chat(temperature=-1), chat(max_tokens=0)):
        error = refusal(wrong)
        assert isinstance(error, EngineRefused)
        assert error.status == 400
    unknown = changed(chat(), body=msgspec.json.encode({"model": "other", "messages": SEA}))
    assert isinstance(refusal(unknown), EngineUnavailable)
    embedding = refusal(_request(Operation.EMBEDDING, {"input": "x"}))
    assert isinstance(embedding, EngineRefused)
    assert embedding.status == 501


def test_a_limit_that_reaches_beyond_the_context_is_cut_and_not_refused(vllm: RunningVllm) -> None:
    request = text(prompt="word " * (CONTEXT_TOKENS - 60), max_tokens=CONTEXT_TOKENS - 1, ignore_eos=True)
    status, body = vllm.ask(DIALECT.call(request, REPLICA))
    answer = msgspec.json.decode(body)
    assert (status, answer["choices"][0]["finish_reason"]) == (200, "length")
    assert answer["usage"]["total_tokens"] == CONTEXT_TOKENS


@pytest.mark.parametrize("words", [1, 4, 9, 14])
@pytest.mark.parametrize("make", [chat, text])
def test_a_greedy_answer_that_broke_off_between_words_goes_on_to_the_same_end(
    vllm: RunningVllm, words: int, make: Callable[..., Request]
) -> None:
    request = make(max_tokens=24)
    unbroken = content(vllm, request)
    cut = [at for at, letter in enumerate(unbroken) if letter == " " and at][words - 1]
    said = DeliveredText(unbroken[:cut], words)
    continued = DIALECT.continuation(request, said)
    assert continued is not None
    rest = content(vllm, continued)
    whole = said.text + rest
    # Words and tokens are not the same: what is left of the limit may end sooner or later than the unbroken answer.
    shorter = min(len(whole), len(unbroken))
    assert whole[:shorter] == unbroken[:shorter]
    assert rest
    assert not rest.startswith("<|im_start|>")


def test_a_closed_stream_stops_its_generation(vllm: RunningVllm) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", vllm.port, timeout=60)
    call = DIALECT.call(chat(stream=True, max_tokens=1500, ignore_eos=True), REPLICA)
    connection.request("POST", call.path, call.body, {"content-type": "application/json"})
    response = connection.getresponse()
    while b'"content":"' not in response.readline():
        pass
    assert vllm.load().running == 1
    response.close()
    connection.close()
    until_s = time.monotonic() + 10
    while vllm.load().running:
        assert time.monotonic() < until_s
    stopped_at = vllm.load().output_tokens
    time.sleep(1)
    assert vllm.load().output_tokens == stopped_at
