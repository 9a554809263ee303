"""Prompts longer than a context: who is asked, who refuses, and what is left behind."""

import pytest

from heterodyne.routing.explanation.question import Question
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import MODEL, chat

LONG = [{"role": "user", "content": "word " * 200_000}]
PROMISE = {"slo_ttft_ms": 2000}


async def short_of_memory(call: EngineCall) -> None:
    """Refuses what is long, as an engine does that alone knows its context."""
    answer = behaviours.stream() if len(call.body) < 10_000 else behaviours.refuse(400, "the prompt is too long")
    await answer(call)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_prompt_that_an_idle_replica_refuses_does_not_take_it_out(is_stream: bool) -> None:
    async with gateway_over(short_of_memory, model=PROMISE) as rig, connected(rig.port) as client:
        for _ in range(3):
            assert (await client.ask(chat(messages=LONG, stream=is_stream))).status == 400
        told = rig.gateway.explainer.explain(Question(model=MODEL))
        assert told.candidates[0].wait_ms == 0.0, "nobody is served, so nobody waits"
        for number in range(5):
            assert (await client.ask(chat(stream=number % 2 == 0))).status == 200


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_prompt_that_cannot_fit_a_known_context_never_reaches_the_engine(is_stream: bool) -> None:
    pool = {"context_tokens": 8192}
    async with gateway_over(behaviours.stream(), pool=pool) as rig, connected(rig.port) as client:
        refused = await client.ask(chat(messages=LONG, stream=is_stream))
        assert (refused.status, refused.error["code"]) == (400, "context_length_exceeded")
        assert "characters; the context of 'scripted' is 8192 tokens" in refused.error["message"]
        assert rig.engine.calls == []
        assert (await client.ask(chat())).status == 200
