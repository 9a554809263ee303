"""The contract against the one real engine that runs wherever the tests do: llama.cpp with its default model."""

import http.client
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec
import pytest

from heterodyne.domain.errors import ContextExceeded, EngineRefused
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.llamacpp.dialect import LlamaCppDialect
from heterodyne.fleet.chat_template import read_chat_template
from heterodyne.fleet.child_order import ChildListening, ChildOrder
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.weights import obtain

DIALECT = LlamaCppDialect()
CONTEXT_TOKENS = 512
SLOTS = 2
MODEL = "tiny"
REPLICA = Replica(
    id=ReplicaId("p-0"), pool=PoolName("p"), model=MODEL, engine="llamacpp", host="h", port=1, context_tokens=512
)


class Engine:
    """A running llama.cpp and its address."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self.process = process
        self._address = urlsplit(url).netloc

    def ask(self, call: EngineRequest) -> tuple[int, bytes]:
        return self.get(call.path, call.body)

    def get(self, path: str, body: bytes = b"") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            connection.request("POST" if body else "GET", path, body or None, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def content(self, request: Request) -> str:
        """What a client would be given, through the dialect both ways."""
        status, body = self.ask(DIALECT.call(request, REPLICA))
        assert status == 200, body
        answer = DIALECT.answer(request, REPLICA, body)
        assert isinstance(answer, bytes)
        choice = msgspec.json.decode(answer)["choices"][0]
        return str(choice["message"]["content"] if request.operation is Operation.CHAT else choice["text"])


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    pool = DEFAULT_POOLS["chat"]
    assert pool.weights
    weights = obtain(pool.weights, pool.weights_sha256, RegistrySettings(), lambda *_: None)
    order = ChildOrder(
        model_path=str(weights),
        alias=MODEL,
        context_tokens=CONTEXT_TOKENS,
        slots=SLOTS,
        threads=2,
        chat_template=read_chat_template(pool.chat_template),
    )
    command = [sys.executable, "-m", "heterodyne.fleet.llamacpp_child"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()
        listening = msgspec.json.decode(process.stdout.readline(), type=ChildListening)
        yield Engine(process, listening.listening)
        process.stdin.close()
        assert process.wait(10) == 0


def chat(**fields: object) -> Request:
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Tell me three facts about the sea."}],
        "temperature": 0,
        **fields,
    }
    return Request(id="1", operation=Operation.CHAT, model=MODEL, body=msgspec.json.encode(body))


def text(**fields: object) -> Request:
    body = {"model": MODEL, "prompt": "The sea is", "temperature": 0, **fields}
    return Request(id="1", operation=Operation.COMPLETION, model=MODEL, body=msgspec.json.encode(body))


def test_it_is_ready_and_tells_its_model_with_the_context_it_takes(engine: Engine) -> None:
    assert DIALECT.is_ready(*engine.get(DIALECT.health_path))
    assert DIALECT.models_path
    [model] = DIALECT.read_models(engine.get(DIALECT.models_path)[1])
    assert (model.name, model.context_tokens, model.parent) == (MODEL, CONTEXT_TOKENS, None)


def test_it_tells_its_load_and_what_it_has_counted(engine: Engine) -> None:
    before = DIALECT.read_load([engine.get(path)[1] for path in DIALECT.load_paths])
    engine.content(chat(max_tokens=5))
    load = DIALECT.read_load([engine.get(path)[1] for path in DIALECT.load_paths])
    assert (load.running, load.waiting, load.kv_share) == (0, 0, None)
    assert load.output_tokens is not None
    assert load.output_tokens - (before.output_tokens or 0) == 5
    assert load.prompt_tokens
    assert load.prefix_query_tokens
    slots = DIALECT.read_load([engine.get(path)[1] for path in DIALECT.fallback_load_paths])
    assert (slots.running, slots.context_tokens) == (0, CONTEXT_TOKENS)


def test_its_refusals_are_understood(engine: Engine) -> None:
    too_long = chat(messages=[{"role": "user", "content": "word " * 2 * CONTEXT_TOKENS}])
    status, body = engine.ask(DIALECT.call(too_long, REPLICA))
    error = DIALECT.refusal(too_long, status, body)
    assert isinstance(error, ContextExceeded)
    assert f"context of this model is {CONTEXT_TOKENS} tokens" in error.message
    wrong = chat(messages="hello")
    error = DIALECT.refusal(wrong, *engine.ask(DIALECT.call(wrong, REPLICA)))
    assert isinstance(error, EngineRefused)
    assert error.status == 400
    many = chat(n=100)
    assert DIALECT.refusal(many, *engine.ask(DIALECT.call(many, REPLICA))).status == 400


@pytest.mark.parametrize("words", [1, 4, 9, 14])
@pytest.mark.parametrize("make", [chat, text])
def test_a_greedy_answer_that_broke_off_between_words_goes_on_to_the_same_end(engine: Engine, words: int, make) -> None:  # type: ignore[no-untyped-def]
    request = make(max_tokens=24)
    unbroken = engine.content(request)
    cut = [at for at, letter in enumerate(unbroken) if letter == " " and at][words - 1]
    said = DeliveredText(unbroken[:cut], words)
    continued = DIALECT.continuation(request, said)
    assert continued is not None
    rest = engine.content(continued)
    whole = said.text + rest
    # Words and tokens are not the same: what is left of the limit may end sooner or later than the unbroken answer.
    shorter = min(len(whole), len(unbroken))
    assert whole[:shorter] == unbroken[:shorter]
    assert len(rest) > 0
