"""A replica whose answers move is noticed, and one whose answers stay is not: scripted, and a real llama.cpp."""

from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from msgspec import structs

from heterodyne.control.drift_watch import PROMPTS, DriftWatch
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from tests.support.tiny_models import tiny_model


def replica(url: str, engine: str = "vllm") -> Replica:
    place = urlsplit(url)
    assert place.hostname
    assert place.port
    return Replica(
        id=ReplicaId("chat-0"), pool=PoolName("chat"), model="m", engine=engine, host=place.hostname, port=place.port
    )


def says(*logprobs: float) -> Behaviour:
    """An answer of so many tokens; of each the likeliest has this log-probability."""

    async def behaviour(call: EngineCall) -> None:
        content = [
            {
                "token": "a",
                "logprob": one,
                "top_logprobs": [{"token": "a", "logprob": one}, {"token": "b", "logprob": -2.5}],
            }
            for one in logprobs
        ]
        answer = behaviours.chat_answer("a" * len(logprobs))
        answer["choices"][0]["logprobs"] = {"content": content}  # type: ignore[index]
        call.whole(200, answer)

    return behaviour


def watching(*replicas: Replica) -> DriftWatch:
    return DriftWatch(lambda: replicas, lambda: {one.id for one in replicas}, lambda: 60.0)


async def test_answers_that_move_are_noticed_and_those_that_stay_are_not() -> None:
    async with ScriptedEngine(says(-0.1, -0.2), model="m") as engine:
        watch = watching(replica(engine.url))
        for _ in range(2):
            await watch.look()
            (seen,) = watch.snapshot()
            assert seen.kl_nats == pytest.approx(0.0, abs=1e-9)
        asked = [call.json for call in engine.calls]
        assert len(asked) == 2 * len(PROMPTS)
        assert {(one["temperature"], one["max_tokens"], one["logprobs"]) for one in asked} == {(0, 16, True)}
        engine.behaviour = says(-1.0, -0.9)
        await watch.look()
        (seen,) = watch.snapshot()
        assert seen.kl_nats is not None
        assert seen.kl_nats > 0.1


async def test_what_is_drained_or_another_counts_from_then_on() -> None:
    async with ScriptedEngine(says(-0.1), model="m") as engine:
        one, there = replica(engine.url), []
        there.append(one)
        watch = DriftWatch(lambda: there, lambda: {one.id}, lambda: 60.0)
        await watch.look()
        engine.behaviour = says(-1.0)
        there[0] = structs.replace(one, is_draining=True)
        await watch.look()
        assert watch.snapshot() == ()
        there[0] = one
        await watch.look()
        (seen,) = watch.snapshot()
        assert seen.kl_nats == pytest.approx(0.0, abs=1e-9)
        engine.behaviour = says(-0.1)
        there[0] = structs.replace(one, version="v2")
        await watch.look()
        (seen,) = watch.snapshot()
        assert seen.kl_nats == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (behaviours.answer("no numbers"), "chat-0 gives no log-probabilities"),
        (behaviours.refuse(400, "no such field"), "chat-0 answers 400"),
    ],
)
async def test_a_replica_that_cannot_be_asked_is_said_to_be_so(behaviour: Behaviour, said: str) -> None:
    async with ScriptedEngine(behaviour, model="m") as engine:
        watch = watching(replica(engine.url))
        await watch.look()
        (seen,) = watch.snapshot()
        assert seen.kl_nats is None
        assert said in seen.problem


async def test_a_real_engine_stays_where_it_was(tmp_path: Path) -> None:
    safetensors_to_gguf(tiny_model(tmp_path / "model"), tmp_path / "model.gguf", "q8_0")
    with running_llamacpp(tmp_path / "model.gguf") as url:
        watch = watching(replica(url, "llamacpp"))
        for _ in range(2):
            await watch.look()
            (seen,) = watch.snapshot()
            assert seen.problem == ""
            assert seen.kl_nats is not None
            assert seen.kl_nats < 1e-4
    assert msgspec.json.encode(seen)
