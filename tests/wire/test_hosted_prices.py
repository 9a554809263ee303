"""Hosted pools compete by what a request costs there, and are billed by what they count."""

from pathlib import Path

import pytest

from heterodyne.testing.behaviours import chat_answer, refuse, usage
from heterodyne.testing.scripted_engine import Behaviour, EngineCall, ScriptedEngine
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat

PLAIN = {"price_usd_per_million_prompt_tokens": 1.0, "price_usd_per_million_completion_tokens": 1.0}
CACHING = {**PLAIN, "price_usd_per_million_prompt_tokens": 1.2, "price_usd_per_million_cached_tokens": 0.12}
CHEAPEST = "x-heterodyne-policy: cost"
LONG = "A long story begins. " * 400


def counting(prompt: int, completion: int, **details: int) -> Behaviour:
    """Counts every answer as these tokens."""

    async def behave(call: EngineCall) -> None:
        counted = {**usage(prompt, completion), "prompt_tokens_details": details}
        call.whole(200, {**chat_answer(), "usage": counted})

    return behave


def story(*turns: str) -> list[dict[str, str]]:
    first = {"role": "system", "content": LONG}
    return [first, *({"role": "user", "content": turn} for turn in turns)]


async def test_of_two_hosted_pools_the_one_that_is_cheaper_for_a_cached_prompt_is_asked() -> None:
    """New prompts are cheaper at one, prompts that it has seen before at the other."""
    caching = ScriptedEngine(counting(2000, 3, cached_tokens=1900))
    async with gateway_over(counting(2000, 3), pool=PLAIN, rivals={"caching": (caching, CACHING)}) as rig:
        await rig.wait(lambda: _is_ready(rig, 2))
        new = await ask(rig.port, chat(CHEAPEST, messages=[{"role": "user", "content": "Another. " * 900}]))
        assert new.headers["x-heterodyne-pool"] == "pool"
        rig.engine.behaviour = refuse(529)
        first = await ask(rig.port, chat(CHEAPEST, messages=story("one")))
        assert first.headers["x-heterodyne-pool"] == "caching", (first.status, first.headers)
        rig.engine.behaviour = counting(2000, 3)
        await rig.wait(lambda: _is_ready(rig, 2))
        again = await ask(rig.port, chat(CHEAPEST, messages=story("one", "two")))
        assert again.headers["x-heterodyne-pool"] == "caching"
        other = await ask(rig.port, chat(CHEAPEST, messages=[{"role": "user", "content": "Something else. " * 900}]))
        assert other.headers["x-heterodyne-pool"] == "pool"


def _is_ready(rig: Rig, count: int) -> bool:
    """Whether so many replicas may be asked."""
    upstream = rig.server._upstream
    return len(upstream.selector.health.usable(MODEL, upstream.clock())) == count


@pytest.mark.parametrize(
    ("details", "usd"),
    [
        ({}, (1000 * 3.0 + 100 * 15.0) / 1e6),
        ({"cached_tokens": 800}, (200 * 3.0 + 800 * 0.3 + 100 * 15.0) / 1e6),
        ({"cached_tokens": 700, "cache_write_tokens": 200}, (100 * 3.0 + 700 * 0.3 + 200 * 3.75 + 1500.0) / 1e6),
    ],
)
async def test_a_bill_has_what_the_provider_says_was_cached(
    details: dict[str, int], usd: float, tmp_path: Path
) -> None:
    prices = {
        "price_usd_per_million_prompt_tokens": 3.0,
        "price_usd_per_million_completion_tokens": 15.0,
        "price_usd_per_million_cached_tokens": 0.3,
        "price_usd_per_million_cache_write_tokens": 3.75,
    }
    async with gateway_over(counting(1000, 100, **details), pool=prices, records=tmp_path / "records") as rig:
        assert (await ask(rig.port, chat())).status == 200
        (record,) = await rig.wait_records(1)
    assert record.usd == pytest.approx(usd)


async def test_a_long_prompt_is_billed_by_its_own_prices(tmp_path: Path) -> None:
    prices = {
        **PLAIN,
        "price_long_prompt_tokens": 900,
        "price_long_usd_per_million_prompt_tokens": 2.0,
        "price_long_usd_per_million_completion_tokens": 3.0,
    }
    async with gateway_over(counting(901, 100), pool=prices, records=tmp_path / "records") as rig:
        await ask(rig.port, chat())
        rig.engine.behaviour = counting(900, 100)
        await ask(rig.port, chat())
        long, short = await rig.wait_records(2)
    assert long.usd == pytest.approx((901 * 2.0 + 300.0) / 1e6)
    assert short.usd == pytest.approx(1000 / 1e6)
