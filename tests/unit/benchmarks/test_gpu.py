"""What `make bench-gpu` does before it needs a card."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from benchmarks.gpu.engines import Engine, Start, found_engines
from benchmarks.gpu.gateway import Rules, settings
from benchmarks.gpu.page import page
from benchmarks.gpu.replay import Target, closed_loop, open_loop
from benchmarks.gpu.replicas import Replica
from benchmarks.gpu.results import Results
from benchmarks.gpu.trace import asks, body
from heterodyne.config.settings import Settings
from heterodyne.engines.catalogue import ENGINES
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine

KINDS = ("vllm", "sglang", "tensorrt-llm", "transformers", "transformers without graphs")
KEPT = Path(__file__).parents[3] / "benchmarks" / "gpu" / "gpu.json"
TEXT = {"id": "1", "choices": [{"index": 0, "text": "w1 "}]}
END = {"id": "1", "choices": [{"index": 0, "text": "", "finish_reason": "length"}], "usage": behaviours.usage(9, 2)}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_an_engine_is_started_on_loopback_with_its_weights(name: str, device: str) -> None:
    engine = Engine(name=name, dialect="vllm", version="1")
    command = engine.command(Start(folder=Path("/w/m"), port=8123, memory_share=0.4, device=device))
    assert {"/w/m", "127.0.0.1", "8123"} <= set(command)


def test_only_engines_that_are_here_are_found() -> None:
    assert all(engine.dialect in ENGINES for engine in found_engines())
    assert found_engines(("no such engine",)) == ()


def test_a_trace_is_the_same_at_every_replay() -> None:
    assert asks(20, seed=3, per_s=2.0) == asks(20, seed=3, per_s=2.0) != asks(20, seed=4, per_s=2.0)
    (one,) = asks(1, seed=3)
    asked = msgspec.json.decode(body(one, "m", 512, 1))
    assert len(asked["prompt"].split()) == one.prompt_tokens
    assert asked["max_tokens"] == one.output_tokens
    assert body(one, "m", 512, 1) != body(one, "m", 512, 2), "no engine has seen it before"


def test_a_gateway_is_told_a_pool_for_each_replica() -> None:
    engine = Engine(name="transformers", dialect="transformers", version="5")
    replicas = [
        Replica(name=f"replica-{number}", engine=engine, folder=Path("/w/m-1.5"), port=8000 + number, ready_s=1.0)
        for number in range(2)
    ]
    told = settings(replicas, Rules(model="llama-3.1-8b", hardware="h200-sxm", policy="round-robin", slo_itl_ms=9.5))
    read = msgspec.convert(tomllib.loads(told), Settings)
    assert [pool.engine_model for pool in read.pools.values()] == ["/w/m-1.5"] * 2
    assert read.models["llama-3.1-8b"].slo_itl_ms == 9.5


async def test_a_stream_without_an_end_mark_is_whole_with_its_count() -> None:
    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        for event in (TEXT, TEXT, END):
            call.event(event)
        call.write(b"0\r\n\r\n")

    async with ScriptedEngine(behave) as engine:
        target = Target(url=engine.url, model="m", words=16, seed=0)
        for replay in (closed_loop(target, asks(5, seed=1), 2), open_loop(target, asks(5, seed=1, per_s=500.0))):
            replies, failures = await replay
            assert (len(replies), failures) == (5, [])
            assert all(one.tokens == 2 and one.ttft_s > 0 for one in replies)


def test_the_page_is_made_of_what_was_kept() -> None:
    results = msgspec.json.decode(KEPT.read_bytes(), type=Results)
    text = page(results)
    assert results.card in text
    assert text.count("| direct |") == text.count("| through |") == len(results.loads)
