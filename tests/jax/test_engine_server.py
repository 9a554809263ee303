"""The JAX engine on a port: asked by OpenAI's client, and by a gateway that takes it for vLLM."""

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="needs the extra `jax`; `make test-jax` installs it")
pytest.importorskip("tokenizers", reason="needs the extra `jax`; `make test-jax` installs it")

from jax import monitoring

from heterodyne.engines.vllm import VllmDialect
from heterodyne.jax_engine.ahead import compile_ahead
from heterodyne.jax_engine.served_model import JaxModel, model_of_folder
from heterodyne.jax_engine.server import JaxOrder, JaxServer
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.reference.forward import log_probabilities
from heterodyne.registry.tensors.checkpoint_values import CheckpointValues
from tests.support import requests
from tests.support.gateways import gateway_over
from tests.support.jax_models import servable_model
from tests.support.raw_client import Answer, ask, connected

PROMPT = [5, 17, 40, 3, 99, 63, 12, 200, 8, 31, 77, 150, 9]
LONG = JaxOrder(name=requests.MODEL, slots=3, context_tokens=512, chunk_tokens=16)
ORDER = JaxOrder(name=requests.MODEL, slots=3, context_tokens=128, chunk_tokens=16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return servable_model(tmp_path_factory.mktemp("jax") / "tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> JaxModel:
    return model_of_folder(folder, "fp32")


async def completed(port: int, **fields: object) -> Answer:
    body = {"model": requests.MODEL, "prompt": PROMPT, "max_tokens": 4, "temperature": 0, "ignore_eos": True, **fields}
    return await ask(port, requests.post("/v1/completions", json.dumps(body).encode()))


async def test_tokens_and_log_probabilities_are_the_references(model: JaxModel, folder: Path) -> None:
    async with JaxServer(model, ORDER) as server:
        decoder = open_safetensors(folder)
        values, tokens = dict(CheckpointValues(decoder.checkpoint)), list(PROMPT)
        for _ in range(4):
            tokens.append(int(log_probabilities(decoder.shape, values, tokens)[-1].argmax()))
        rows = log_probabilities(decoder.shape, values, tokens)[len(PROMPT) - 1 : -1]
        answer = (await completed(server.port, logprobs=2)).json
        told = answer["choices"][0]["logprobs"]
        assert told["token_logprobs"] == pytest.approx(rows.max(axis=-1).tolist(), abs=2e-3)
        assert (answer["choices"][0]["finish_reason"], len(told["tokens"])) == ("length", 4)
        assert all(len(one) in (2, 3) for one in told["top_logprobs"])
        assert answer["usage"]["prompt_tokens"] == len(PROMPT)


async def test_no_usual_request_waits_for_a_program_that_was_compiled_ahead(folder: Path, model: JaxModel) -> None:
    wanted = {"temperature": 0.7, "seed": 5}
    async with JaxServer(model, LONG) as server:
        before = [(await completed(server.port, **fields)).json["choices"] for fields in ({}, wanted)]
    ready = model_of_folder(folder, "fp32")
    assert compile_ahead(ready.programs, slots=3, context_tokens=512, chunk_tokens=16, steps=1) == 12
    async with JaxServer(ready, LONG) as server:
        compiled: list[str] = []
        monitoring.register_event_duration_secs_listener(lambda name, _, **__: compiled.append(name))
        after = [(await completed(server.port, **fields)).json["choices"] for fields in ({}, wanted)]
        long = [(await completed(server.port, prompt=PROMPT * times)).status for times in (3, 22, 35, 2, 22)]
        both = await asyncio.gather(*(completed(server.port, prompt=PROMPT * 5, max_tokens=30) for _ in range(3)))
        assert (after, long) == (before, [200] * 5)
        assert [answer.status for answer in both] == [200] * 3
        assert not [name for name in compiled if "compile" in name]


async def test_a_stream_says_what_the_whole_answer_says_and_finds_its_prefix(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        whole = (await completed(server.port, prompt=PROMPT * 4)).json
        answer = await completed(server.port, prompt=PROMPT * 4, stream=True, stream_options={"include_usage": True})
        *events, done = answer.events
        told = [json.loads(event) for event in events]
        assert done == b"[DONE]"
        assert "".join(one["choices"][0]["text"] for one in told[:-1]) == whole["choices"][0]["text"]
        assert told[-2]["choices"][0]["finish_reason"] == "length"
        assert told[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 4 * len(PROMPT) - 1}


async def test_more_than_there_are_slots_are_all_answered(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        answers = await asyncio.gather(*(completed(server.port, prompt=[*PROMPT, number]) for number in range(8)))
        alone = [await completed(server.port, prompt=[*PROMPT, number]) for number in range(8)]
        assert [one.json["choices"][0]["text"] for one in answers] == [one.json["choices"][0]["text"] for one in alone]


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"prompt": [1] * 200}, 400, "maximum context length"),
        ({"prompt": [9999]}, 400, "below the vocabulary"),
        ({"model": "other"}, 404, "does not exist"),
        ({"presence_penalty": 0.5}, 400, "presence_penalty"),
        ({"top_p": 2}, 400, "top_p"),
        ({"prompt": ["a"] * 20, "n": 4}, 400, "80 answers"),
    ],
)
async def test_what_it_cannot_do_is_said(model: JaxModel, fields: dict[str, object], status: int, words: str) -> None:
    async with JaxServer(model, ORDER) as server:
        answer = await completed(server.port, **fields)
        assert (answer.status, words in answer.json["error"]["message"]) == (status, True)


async def test_a_stop_text_ends_an_answer_and_is_not_in_it(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        text = (await completed(server.port, max_tokens=12)).json["choices"][0]["text"]
        cut = (await completed(server.port, max_tokens=12, stop=text[3:5])).json["choices"][0]
        assert (cut["text"], cut["finish_reason"]) == (text[: text.find(text[3:5])], "stop")
        assert server.engine.scheduler.running <= 1


async def test_a_client_that_leaves_gives_its_slot_back(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        body = {"model": requests.MODEL, "prompt": PROMPT, "max_tokens": 100, "ignore_eos": True, "stream": True}
        async with connected(server.port) as client:
            await client.send(requests.post("/v1/completions", json.dumps(body).encode()))
            async with asyncio.timeout(60):
                while not server.engine.scheduler.running:
                    await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            while server.engine.scheduler.running:
                await asyncio.sleep(0.01)


async def test_an_engine_that_failed_says_so(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        server._handler.fail("The engine failed: of old age")
        assert (await ask(server.port, requests.get("/health"))).status == 503
        assert (await completed(server.port)).status == 500


async def test_a_gateway_takes_it_for_vllm(model: JaxModel) -> None:
    async with JaxServer(model, ORDER) as server:
        async with gateway_over(pool={"engine": "vllm", "urls": (server.url,)}) as rig:
            chat = requests.chat(max_tokens=5, temperature=0, ignore_eos=True, logprobs=True, top_logprobs=2)
            answer = (await ask(rig.port, chat)).json
            stream = await ask(rig.port, requests.chat(max_tokens=5, temperature=0, ignore_eos=True, stream=True))
        content = answer["choices"][0]["message"]["content"]
        assert stream.text == content
        assert stream.events[-1] == b"[DONE]"
        told = answer["choices"][0]["logprobs"]["content"]
        assert [len(one["top_logprobs"]) for one in told] == [2] * 5
        page = (await ask(server.port, requests.get("/metrics"))).body
        load = VllmDialect().read_load([page])
        assert (load.running, load.waiting, load.output_tokens) == (0, 0, 10)
        assert load.kv_tokens == 3 * 128
