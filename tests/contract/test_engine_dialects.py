"""What every engine's dialect promises, whoever wrote it: both ports, one suite.

Pages come from the emulator for the engines it speaks, else they are written by hand; `test_running_llamacpp.py` asks
the one real engine that runs everywhere, and `tests/engines` a real vLLM, some of whose pages are recorded here.
"""

import re
from contextlib import suppress

import msgspec
import pytest

from heterodyne.domain import errors
from heterodyne.domain.engine_load import Capability, EngineLoad
from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.emulator.server import EmulatorServer
from heterodyne.engines.catalogue import DIALECTS, ENGINES
from heterodyne.fleet.settings import EngineName
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.ports.engine import DeliveredText
from tests.contract.written_pages import HEALTH, Refusal, refusals, written
from tests.support.emulators import order
from tests.support.raw_client import ask
from tests.support.requests import get, post
from tests.support.requests_copied import changed
from tests.support.surfaces import MODEL, page

EMULATED = tuple(kind.value for kind in EngineKind)
TRANSLATED = ("anthropic", "bedrock", "bedrock-converse", "gemini")  # whose bodies have other words than OpenAI's
CHATS = tuple(name for name in ENGINES if name not in ("jetstream", "open_inference", *TRANSLATED))
CONTINUES_CHAT = ("llamacpp", "vllm", "sglang", "tgi", "lmdeploy")
CONTINUES_TEXT = (*CONTINUES_CHAT, "tensorrt-llm", "mlx-lm", "transformers")
GENERATES = {Operation.CHAT, Operation.COMPLETION}
OWN = GENERATES | {Operation.EMBEDDING, Operation.TOKENIZE, Operation.DETOKENIZE, Operation.COUNT, Operation.RERANK}
SPOKEN = {Operation.SPEECH, Operation.TRANSCRIPTION, Operation.TRANSLATION}
ALL = set(Operation) - {Operation.INFER}
CALLED = {  # where it is not every operation but one
    "llamacpp": OWN,
    "sglang": OWN,
    "tensorrt-llm": GENERATES | {Operation.EMBEDDING},
    "tgi": GENERATES,
    "lmdeploy": GENERATES,
    "jetstream": {Operation.COMPLETION},
    "ollama": GENERATES | {Operation.EMBEDDING},
    "mlx-lm": GENERATES,
    "transformers": GENERATES,
    "open_inference": {Operation.INFER},
    "anthropic": {Operation.CHAT, Operation.COUNT},
    "bedrock": {Operation.CHAT},
    "bedrock-converse": {Operation.CHAT, Operation.COUNT},
    "azure-openai": GENERATES | SPOKEN | {Operation.EMBEDDING, Operation.IMAGE, Operation.IMAGE_EDIT},
    "gemini": {Operation.CHAT, Operation.COUNT, Operation.EMBEDDING},
}
QUESTION = [{"role": "user", "content": "why is the sky blue?"}]
GARBAGE = (
    b"",
    b"<html><body>502</body></html>",
    b"{}",
    b"[]",
    b'{"error":"no"}',
    b"# HELP other x\nother 1\n",
    b"\xff\x00",
)


def replica(engine: str, **fields: object) -> Replica:
    words = {"id": ReplicaId("p-0"), "pool": PoolName("p"), "model": MODEL, "host": "h", "port": 1, **fields}
    return Replica(engine=engine, **words)  # type: ignore[arg-type]


def chat(**fields: object) -> Request:
    body = {"model": MODEL, "messages": QUESTION, **fields}
    return _request(Operation.CHAT, body)


def text(**fields: object) -> Request:
    return _request(Operation.COMPLETION, {"model": MODEL, "prompt": "The sky is", **fields})


def _request(operation: Operation, body: dict[str, object]) -> Request:
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return Request(
        id="1",
        operation=operation,
        model=MODEL,
        body=msgspec.json.encode(body),
        stream=bool(body.get("stream")),
        output_tokens_max=limit if isinstance(limit, int) else None,
        choices=int(str(body.get("n", 1))),
    )


def test_the_catalogue_has_every_engine_that_settings_name() -> None:
    assert set(ENGINES) == set(EngineName.__args__)  # type: ignore[attr-defined]
    assert set(DIALECTS) == set(ENGINES)
    assert all(engine.name == name for name, engine in ENGINES.items())
    assert set(HEALTH) == set(ENGINES) == {name for name, _ in refusals()}


# The wire of a request.


@pytest.mark.parametrize("engine", CHATS)
@pytest.mark.parametrize("request_", [chat(top_k=5, x_unknown={"a": [1, None]}), text(top_k=5, x_unknown="é")])
def test_a_call_is_valid_json_with_every_field_of_the_client(engine: str, request_: Request) -> None:
    call = ENGINES[engine].call(request_, replica(engine, base_path="/base", engine_model="its own"))
    assert call.path.startswith("/base/")
    body = msgspec.json.decode(call.body)
    asked = msgspec.json.decode(request_.body)
    assert {name: body[name] for name in asked} == {**asked, "model": "its own"}


@pytest.mark.parametrize("engine", CHATS)
@pytest.mark.parametrize("fields", [{}, {"stream_options": {"include_usage": False}}])
def test_every_stream_is_asked_for_its_usage(engine: str, fields: dict[str, object]) -> None:
    request = changed(chat(stream=True, **fields), has_stream_options=bool(fields))
    body = msgspec.json.decode(ENGINES[engine].call(request, replica(engine)).body)
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("engine", ["openai", "vllm", "sglang", "tensorrt-llm", "tgi", "lmdeploy", "ollama", "mlx-lm"])
def test_a_whole_request_that_needs_no_change_is_the_same_bytes(engine: str) -> None:
    request = chat(temperature=0.5, max_tokens=3)
    assert ENGINES[engine].call(request, replica(engine)).body is request.body
    assert ENGINES[engine].stream_edit(request) is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("operation", Operation)
def test_an_operation_is_called_or_refused_with_a_reason(engine: str, operation: Operation) -> None:
    body = {"model": MODEL, "messages": QUESTION, "prompt": "x", "input": "x", "tokens": [1]}
    request = _request(operation, body)
    if operation in CALLED.get(engine, ALL):
        assert ENGINES[engine].call(request, replica(engine)).path.startswith("/")
        return
    with pytest.raises(errors.EngineRefused, match=operation) as refused:
        ENGINES[engine].call(request, replica(engine))
    assert refused.value.status == 501


@pytest.mark.parametrize("engine", ["tgi", "lmdeploy", "ollama", "mlx-lm", "transformers", "jetstream"])
def test_more_answers_than_the_engine_writes_are_refused_and_not_left_out(engine: str) -> None:
    with pytest.raises(errors.InvalidField) as refused:
        ENGINES[engine].call(text(n=2), replica(engine))
    assert refused.value.param == "n"


# Dialects that tell a chat in other words.


@pytest.mark.parametrize("engine", TRANSLATED)
def test_a_translated_call_has_what_its_provider_lets_pass_and_what_an_operator_opened(engine: str) -> None:
    call = ENGINES[engine].call(chat(x_unknown={"a": [1, None]}), replica(engine, base_path="/base"))
    assert call.path.startswith("/base/")
    assert msgspec.json.decode(call.body)["x_unknown"] == {"a": [1, None]}
    assert QUESTION[0]["content"].encode() in call.body


@pytest.mark.parametrize("engine", TRANSLATED)
@pytest.mark.parametrize("body", [*GARBAGE, b"[" * 5000, b'{"choices":[]}'])
def test_a_translated_answer_that_is_none_is_garbage(engine: str, body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        ENGINES[engine].answer(chat(), replica(engine), body)


@pytest.mark.parametrize("engine", TRANSLATED)
@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff\x00", b"[" * 5000])
def test_a_translated_event_that_is_none_is_garbage(engine: str, body: bytes) -> None:
    edit = ENGINES[engine].stream_edit(chat(stream=True))
    assert edit is not None
    with pytest.raises(EngineGarbage):
        edit(body)


@pytest.mark.parametrize("engine", TRANSLATED)
def test_a_translated_question_that_asks_for_log_probabilities_is_refused(engine: str) -> None:
    with pytest.raises(errors.InvalidField) as refused:
        ENGINES[engine].call(chat(logprobs=True), replica(engine))
    assert refused.value.param == "logprobs"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_key_is_in_the_lines_of_the_head_and_they_are_whole(engine: str) -> None:
    with_key, without = ENGINES[engine].header_lines("k3y"), ENGINES[engine].header_lines("")
    assert b"k3y" in with_key
    assert b"k3y" not in without
    for lines in (with_key, without):
        assert not lines or lines.endswith(b"\r\n")
        assert all(b": " in line for line in lines.split(b"\r\n")[:-1])


# Refusals.


@pytest.mark.parametrize(("engine", "case"), refusals())
def test_a_refusal_in_the_engines_own_shape_becomes_the_right_one_of_ours(engine: str, case: Refusal) -> None:
    error = ENGINES[engine].refusal(text(), case.status, case.body)
    assert (type(error).__name__, error.status) == (case.ours, case.our_status)
    assert error.message
    if case.status >= 500:
        assert case.body.decode() not in error.message


@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_has_a_refusal_of_every_common_status(engine: str) -> None:
    assert {400, 404, 422, 429, 500, 503} <= {case.status for name, case in refusals() if name == engine}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("status", [400, 401, 404, 413, 418, 422, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("body", [*GARBAGE, b'{"error":{"message":7}}', b'{"detail":[]}', b"[" * 5000])
def test_no_refusal_is_too_strange_to_be_told(engine: str, status: int, body: bytes) -> None:
    error = ENGINES[engine].refusal(chat(), status, body)
    assert isinstance(error, HeterodyneError)
    assert error.status >= 400
    assert error.message


# The control side.


@pytest.mark.parametrize("engine", ENGINES)
def test_health_is_read(engine: str) -> None:
    for health in HEALTH[engine]:
        assert ENGINES[engine].is_ready(health.status, health.body) is health.is_ready, health


@pytest.mark.parametrize("engine", EMULATED)
async def test_an_emulated_engine_is_ready_and_tells_its_model_and_load(engine: str) -> None:
    control = ENGINES[engine]
    async with EmulatorServer(order(EngineKind(engine))) as server:
        await ask(server.port, post("/v1/chat/completions", chat(max_tokens=8).body))
        health = await page(server, control.health_path)
        assert control.is_ready(health.status, health.body)
        assert control.models_path is not None
        [model] = control.read_models((await page(server, control.models_path)).body)
        assert model.name == MODEL
        assert model.context_tokens in (4096, None)
        load = control.read_load([(await page(server, path)).body for path in control.load_paths])
        assert (load.running, load.waiting) == (0, 0)
        assert load.output_tokens == 8.0
        assert load.prompt_tokens is not None
        assert load.prompt_tokens > 0
        if engine != "llamacpp":
            assert load.kv_share == 0.0
            assert load.kv_tokens == server.order.scheduling.kv_tokens
            assert load.block_tokens == server.order.scheduling.block_tokens
            assert load.prefix_query_tokens == load.prompt_tokens + (load.prefix_hit_tokens or 0)


@pytest.mark.parametrize("engine", ["sglang", "llamacpp"])
async def test_without_metrics_an_emulated_engine_still_tells_what_runs(engine: str) -> None:
    control = ENGINES[engine]
    async with EmulatorServer(order(EngineKind(engine))) as server:
        load = control.read_load([(await page(server, path)).body for path in control.fallback_load_paths])
        assert load.running == 0


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
async def test_an_emulated_engine_takes_our_orders(engine: str) -> None:
    control = ENGINES[engine]
    async with EmulatorServer(order(EngineKind(engine))) as server:
        for control_call in (control.load_adapter("a", "/adapters/a"), control.sleep(), control.wake()):
            assert control_call is not None
            answer = await ask(server.port, post(control_call.path, control_call.body))
            assert (control_call.method, answer.status) == ("POST", 200), answer
        assert control.models_path is not None
        models = control.read_models((await page(server, control.models_path)).body)
        assert [(model.name, model.parent) for model in models] == [(MODEL, None), ("a", MODEL)]
        unload = control.unload_adapter("a")
        assert unload is not None
        assert (await ask(server.port, post(unload.path, unload.body))).status == 200


async def test_a_sleeping_vllm_says_so() -> None:
    control = ENGINES["vllm"]
    async with EmulatorServer(order(EngineKind.VLLM)) as server:
        for control_call, is_asleep in ((control.sleep(), True), (control.wake(), False)):
            assert control_call is not None
            await ask(server.port, post(control_call.path, control_call.body))
            assert control.read_load([(await page(server, "/metrics")).body]).is_asleep is is_asleep


async def test_the_json_at_tensorrt_llms_metrics_path_is_named_as_the_trap_it_is() -> None:
    async with EmulatorServer(order(EngineKind.TENSORRT_LLM)) as server:
        trap = (await ask(server.port, get("/metrics"))).body
    for body in (trap, written("tensorrt-llm", "iterations.json")):
        with pytest.raises(EngineGarbage, match="/prometheus/metrics"):
            ENGINES["tensorrt-llm"].read_load([body])


@pytest.mark.parametrize(
    ("engine", "file", "load"),
    [
        ("sglang", "load.json", EngineLoad(running=5, waiting=1, kv_share=0.5, kv_tokens=40_000)),
        ("tgi", "load.txt", EngineLoad(running=5, waiting=3, prompt_tokens=1500.0, output_tokens=900.0)),
        (
            "lmdeploy",
            "load.txt",
            EngineLoad(running=7, waiting=3, kv_share=0.375, prompt_tokens=1000.0, output_tokens=400.0),
        ),
        ("jetstream", "load.txt", EngineLoad(waiting=4, kv_share=0.75, prompt_tokens=320.0)),
        ("ollama", "load.json", EngineLoad(context_tokens=4096)),
    ],
)
def test_a_load_page_written_from_documentation_is_read(engine: str, file: str, load: EngineLoad) -> None:
    assert ENGINES[engine].read_load([written(engine, file)]) == load


def test_the_pages_recorded_from_a_running_vllm_are_read() -> None:
    assert ENGINES["vllm"].read_load([written("vllm", "recorded_load.txt")]) == EngineLoad(
        running=2,
        waiting=0,
        kv_share=pytest.approx(2 / 181),
        kv_tokens=182 * 128,
        block_tokens=128,
        prefix_query_tokens=1065.0,
        prefix_hit_tokens=384.0,
        prompt_tokens=1065.0 - 384.0,
        output_tokens=61.0,
        started_at_s=1794722822.03,
    )
    [model] = ENGINES["vllm"].read_models(written("vllm", "recorded_models.json"))
    assert (model.name, model.context_tokens, model.parent) == ("smollm2-135m", 2048, None)


@pytest.mark.parametrize("engine", ["openai", "tgi", "lmdeploy", "ollama", "mlx-lm"])
def test_a_model_list_written_from_documentation_is_read(engine: str) -> None:
    [model] = ENGINES[engine].read_models(written(engine, "models.json"))
    assert model.name
    assert model.parent is None


@pytest.mark.parametrize("engine", [name for name, engine in ENGINES.items() if engine.load_paths])
@pytest.mark.parametrize("body", GARBAGE)
def test_a_load_page_that_is_none_is_garbage(engine: str, body: bytes) -> None:
    if engine == "llamacpp" and body == b"[]":
        return  # no slots are slots
    with pytest.raises(EngineGarbage):
        ENGINES[engine].read_load([body])


@pytest.mark.parametrize("engine", [name for name in EMULATED if ENGINES[name].load_paths])
@pytest.mark.parametrize("value", [b"NaN", b"+Inf", b"-Inf", b"-3", b"1e300"])
async def test_a_load_page_with_mad_numbers_is_read_or_garbage_and_never_our_mistake(engine: str, value: bytes) -> None:
    control = ENGINES[engine]
    async with EmulatorServer(order(EngineKind(engine))) as server:
        body = (await page(server, control.load_paths[0])).body
    mad = re.sub(rb"(?m)^([^#\n]*?[ }])[^ \n]+$", rb"\g<1>" + value, body).replace(b"llama", b"\xff\xfe")
    with suppress(EngineGarbage):
        load = control.read_load([mad])
        assert load.kv_share is None or 0 <= load.kv_share <= 1
        assert load.running is None or load.running >= 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", GARBAGE)
def test_a_model_list_that_is_none_is_garbage(engine: str, body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        ENGINES[engine].read_models(body)


@pytest.mark.parametrize("engine", ENGINES)
def test_orders_are_whole_or_not_given(engine: str) -> None:
    control = ENGINES[engine]
    orders = (control.load_adapter("a", "/a"), control.unload_adapter("a"), control.sleep(), control.wake())
    for given in orders:
        if given is not None:
            assert given.method == "POST"
            assert given.path.startswith("/")
            assert not given.body or msgspec.json.decode(given.body) is not None
    assert (orders[0] is None) == (orders[1] is None)
    assert (orders[2] is None) == (orders[3] is None)
    assert orders[0] is None or Capability.LORA in control.capabilities


# Continuations.


@pytest.mark.parametrize("engine", ENGINES)
def test_only_what_the_engine_can_take_up_is_continued(engine: str) -> None:
    dialect, said = ENGINES[engine], DeliveredText("Because of", 2)
    assert (dialect.continuation(chat(max_tokens=9), said) is not None) == (engine in CONTINUES_CHAT)
    assert (dialect.continuation(text(max_tokens=9), said) is not None) == (engine in CONTINUES_TEXT)
    assert (Capability.CONTINUES_ANSWERS in dialect.capabilities) == (engine in CONTINUES_CHAT)
    for operation in (Operation.EMBEDDING, Operation.TOKENIZE, Operation.DETOKENIZE, Operation.INFER):
        assert dialect.continuation(_request(operation, {"model": MODEL}), said) is None


@pytest.mark.parametrize("engine", CONTINUES_CHAT)
def test_a_continued_chat_ends_with_what_was_said_and_has_what_is_left_of_its_limit(engine: str) -> None:
    request = chat(max_tokens=9, seed=4, x_unknown=1)
    continued = ENGINES[engine].continuation(request, DeliveredText("Because of", 2))
    assert continued is not None
    body = msgspec.json.decode(continued.body)
    assert body["messages"] == [*QUESTION, {"role": "assistant", "content": "Because of"}]
    assert (body["max_tokens"], continued.output_tokens_max, body["seed"], body["x_unknown"]) == (7, 7, 4, 1)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
@pytest.mark.parametrize("words", [1, 3, 7, 15])
async def test_an_emulated_answer_that_broke_off_goes_on_to_the_same_end(engine: str, words: int) -> None:
    dialect = ENGINES[engine]
    async with EmulatorServer(order(EngineKind(engine))) as server:

        async def content(request: Request) -> str:
            call = dialect.call(request, replica(engine))
            answer = await ask(server.port, post(call.path, call.body))
            assert answer.status == 200, answer.body
            whole = dialect.answer(request, replica(engine), answer.body)
            assert isinstance(whole, bytes)
            return str(msgspec.json.decode(whole)["choices"][0]["message"]["content"])

        request = chat(max_completion_tokens=16)
        unbroken = await content(request)
        pieces = unbroken.split(" ")[1:]
        assert len(pieces) == 16
        said = DeliveredText("".join(f" {piece}" for piece in pieces[:words]), words)
        continued = dialect.continuation(request, said)
        assert continued is not None
        assert said.text + await content(continued) == unbroken


async def test_an_emulated_tensorrt_llm_takes_a_continued_text() -> None:
    dialect = ENGINES["tensorrt-llm"]
    continued = dialect.continuation(text(max_tokens=9), DeliveredText(" blue and", 2))
    assert continued is not None
    call = dialect.call(continued, replica("tensorrt-llm"))
    async with EmulatorServer(order(EngineKind.TENSORRT_LLM)) as server:
        answer = await ask(server.port, post(call.path, call.body))
    assert answer.json["usage"]["completion_tokens"] <= 7
