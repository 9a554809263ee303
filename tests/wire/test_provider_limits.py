"""A provider that has nothing left, or too much to do, is left alone until it says otherwise."""

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from heterodyne.routing.health.snapshot import Obstacle, ReplicaHealthSnapshot
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat

CHEAP = {"price_usd_per_million_prompt_tokens": 1.0, "price_usd_per_million_completion_tokens": 1.0}
DEAR = {"price_usd_per_million_prompt_tokens": 9.0, "price_usd_per_million_completion_tokens": 9.0}
CHEAPEST = "x-heterodyne-policy: cost"
RESET_S = 1.5
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}

CLAUDE_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 7, "output_tokens": 3},
}


def answering(body: object, *headers: str) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        call.whole(200, body, *headers)

    return behave


def refusing(status: int, error: object, *headers: str) -> Behaviour:
    async def behave(call: EngineCall) -> None:
        call.whole(status, error, *headers)

    return behave


def failing_stream(event: object) -> Behaviour:
    """A stream that begins and has nothing to say but this."""

    async def behave(call: EngineCall) -> None:
        call.head(200, *behaviours.EVENT_STREAM)
        call.event(event)
        call.write(b"0\r\n\r\n")

    return behave


def openai_spent() -> Behaviour:
    headers = ("x-ratelimit-remaining-requests: 0", f"x-ratelimit-reset-requests: {RESET_S}s")
    return answering(behaviours.chat_answer(), *headers)


def anthropic_spent() -> Behaviour:
    now = datetime.now(UTC).replace(microsecond=0)
    reset = (now + timedelta(seconds=2)).isoformat().replace("+00:00", "Z")
    return answering(
        CLAUDE_ANSWER,
        f"date: {format_datetime(now, usegmt=True)}",
        "anthropic-ratelimit-requests-limit: 1",
        "anthropic-ratelimit-requests-remaining: 0",
        f"anthropic-ratelimit-requests-reset: {reset}",
    )


def health(rig: Rig, replica: str) -> ReplicaHealthSnapshot:
    upstream = rig.server._upstream
    (found,) = (one for one in upstream.selector.health.snapshot(upstream.clock()).replicas if one.replica == replica)
    return found


async def ready(rig: Rig, count: int = 2) -> None:
    upstream = rig.server._upstream
    await rig.wait(lambda: len(upstream.selector.health.usable(MODEL, upstream.clock())) == count)


async def asked(rig: Rig, **fields: object) -> tuple[int, str]:
    answer = await ask(rig.port, chat(CHEAPEST, **fields))
    return answer.status, answer.headers.get("x-heterodyne-pool", "")


@pytest.mark.parametrize(
    ("engine", "spent"), [("openai", openai_spent), ("azure-openai", openai_spent), ("anthropic", anthropic_spent)]
)
async def test_a_pool_with_nothing_left_is_left_out_until_its_reset(
    engine: str, spent: Callable[[], Behaviour]
) -> None:
    rivals: dict[str, Any] = {"dear": (behaviours.answer(), DEAR)}
    async with gateway_over(spent(), pool={**CHEAP, "engine": engine}, rivals=rivals) as rig:
        await ready(rig)
        began_s = time.monotonic()
        assert await asked(rig) == (200, "pool")
        assert await asked(rig) == (200, "dear")
        assert health(rig, "pool-0").obstacle is Obstacle.RATE_LIMITED
        assert health(rig, "pool-0").remaining["requests"] < 1
        assert len(rig.engine.calls) == 1
        await ready(rig)
        assert time.monotonic() - began_s > 0.9
        assert await asked(rig) == (200, "pool")


async def test_with_no_other_pool_a_request_waits_for_the_reset_and_is_not_refused() -> None:
    async with gateway_over(openai_spent(), pool=CHEAP) as rig:
        assert await asked(rig) == (200, "pool")
        began_s = time.monotonic()
        assert await asked(rig) == (200, "pool")
        assert time.monotonic() - began_s > RESET_S - 0.5
        assert len(rig.engine.calls) == 2


async def test_what_was_sent_since_the_last_answer_counts() -> None:
    """One more is allowed, so of two at once only one goes there."""
    one_left = ("x-ratelimit-remaining-requests: 1", "x-ratelimit-reset-requests: 60s")
    rivals: dict[str, Any] = {"dear": (behaviours.answer(), DEAR)}
    async with gateway_over(answering(behaviours.chat_answer(), *one_left), pool=CHEAP, rivals=rivals) as rig:
        await ready(rig)
        await asked(rig)
        rig.engine.behaviour = behaviours.answer(delay_s=0.3)
        found = await asyncio.gather(asked(rig), asked(rig))
        assert sorted(found) == [(200, "dear"), (200, "pool")]


REFUSALS = {
    "openai 429": ("openai", 429, {"error": {"message": "Rate limit reached.", "code": "rate_limit_exceeded"}}),
    "openai 503": ("openai", 503, {"error": {"message": "Slow down.", "type": "server_error"}}),
    "azure 429": ("azure-openai", 429, {"error": {"code": "429", "message": "Please retry after 6 seconds."}}),
    "anthropic 429": ("anthropic", 429, {"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}),
    "anthropic 529": ("anthropic", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
    "bedrock 429": ("bedrock", 429, {"__type": "ThrottlingException", "message": "Too many requests"}),
    "bedrock 529": ("bedrock", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
    "converse 429": ("bedrock-converse", 429, {"message": "Too many requests, please wait before trying again."}),
    "converse 503": ("bedrock-converse", 503, {"message": "Bedrock is unable to process your request."}),
    "gemini 429": ("gemini", 429, {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}}),
    "gemini 503": ("gemini", 503, {"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}}),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_an_overload_goes_elsewhere_and_is_no_fault(case: str) -> None:
    engine, status, body = REFUSALS[case]
    rivals: dict[str, Any] = {"dear": (behaviours.answer(), DEAR)}
    async with gateway_over(refusing(status, body), pool={**CHEAP, "engine": engine}, rivals=rivals) as rig:
        await ready(rig)
        for _ in range(12):  # more than eject a replica, or open its breaker
            assert await asked(rig) == (200, "dear")
            await asyncio.sleep(0.02)
        seen = health(rig, "pool-0")
        assert len(rig.engine.calls) >= 1
        assert seen.outcomes["refused_busy"] == len(rig.engine.calls)
        assert (seen.failures_in_a_row, seen.ejections, seen.breaker_opened) == (0, 0, 0)


STREAMED = {
    "anthropic overloaded": ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
    "anthropic limited": ("anthropic", {"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}),
    "gemini overloaded": ("gemini", {"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}}),
    "gemini limited": ("gemini", {"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}}),
}


@pytest.mark.parametrize("case", STREAMED)
async def test_an_overload_before_the_first_word_of_a_stream_does_so_too(case: str) -> None:
    engine, event = STREAMED[case]
    rivals: dict[str, Any] = {"dear": (behaviours.stream(), DEAR)}
    async with gateway_over(failing_stream(event), pool={**CHEAP, "engine": engine}, rivals=rivals) as rig:
        await ready(rig)
        assert await asked(rig, stream=True) == (200, "dear")
        seen = health(rig, "pool-0")
        assert seen.outcomes["refused_busy"] == 1
        assert seen.failures_in_a_row == 0


@pytest.mark.parametrize(
    ("engine", "body", "headers"),
    [
        ("openai", {"error": {"message": "no"}}, ("retry-after: 1",)),
        ("anthropic", {"error": {"message": "no"}}, ("retry-after: 1",)),
        ("azure-openai", {"error": {"message": "no"}}, ("retry-after-ms: 1000", "retry-after: 30")),
        ("gemini", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [RETRY_INFO]}}, ()),
    ],
)
async def test_one_that_says_when_to_come_back_is_not_asked_before(
    engine: str, body: object, headers: tuple[str, ...]
) -> None:
    rivals: dict[str, Any] = {"dear": (behaviours.answer(), DEAR)}
    pool = {**CHEAP, "engine": engine}
    async with gateway_over(refusing(429, body, *headers), pool=pool, rivals=rivals) as rig:
        await ready(rig)
        assert await asked(rig) == (200, "dear")
        assert health(rig, "pool-0").obstacle is Obstacle.RATE_LIMITED
        await asyncio.sleep(0.6)  # the pause after a refusal is shorter
        assert await asked(rig) == (200, "dear")
        assert len(rig.engine.calls) == 1
        await ready(rig)


async def test_an_engine_of_ours_has_no_rate_limits_whatever_it_says() -> None:
    said = ("x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 60s")
    engine = ScriptedEngine(answering(behaviours.chat_answer(), *said))
    async with gateway_over(engine, pool={"engine": "vllm"}) as rig:
        assert [(await asked(rig))[0] for _ in range(3)] == [200, 200, 200]
        assert health(rig, "pool-0").remaining == {}


async def test_a_limit_that_is_long_spent_is_refused_at_once() -> None:
    refused = refusing(429, {"error": {"message": "Come back tomorrow."}}, "retry-after: 86400")
    async with gateway_over(refused, pool=CHEAP) as rig:
        first = await ask(rig.port, chat())
        assert (first.status, first.headers["retry-after"]) == (429, "3600")
        again = await ask(rig.port, chat())
        assert (again.status, json.loads(again.body)["error"]["code"]) == (503, "engine_unavailable")
        assert again.headers["retry-after"] == "3600"
        assert "nothing left of their rate limits" in again.body.decode()
        assert len(rig.engine.calls) == 1
