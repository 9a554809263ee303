"""An engine's cache tells no project what another has asked, by whatever way an answer comes."""

from typing import Any

import pytest

from heterodyne.emulator.server import EmulatorServer
from tests.support.emulators import order
from tests.support.gateways import Rig, gateway_over
from tests.support.kv_plans import DECODE, PREFILL, kv_gateway
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.tenants import bearer, caller, tenants

MODEL = "llama-3.1-8b"
SEA = "the sea is wide and deep and blue and cold, " * 40
TWO = tenants(one=caller("acme/search"), two=caller("acme/mail"))


async def cached(rig: Rig, secret: str, **fields: Any) -> int:
    messages = [{"role": "user", "content": SEA}]
    answer = await ask(rig.port, chat(bearer(secret), model=MODEL, messages=messages, max_tokens=4, **fields))
    assert answer.status == 200, answer.body
    return int((answer.json["usage"].get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


@pytest.mark.parametrize("is_shared", [False, True])
async def test_a_project_finds_its_own_prompts_and_another_only_where_that_is_said(is_shared: bool) -> None:
    pool = {"model": MODEL, "engine": "vllm"}
    async with gateway_over(EmulatorServer(order()), pool=pool, model={"kv_shared": is_shared}, tenants=TWO) as rig:
        assert await cached(rig, "one") == 0
        own, others = await cached(rig, "one"), await cached(rig, "two")
        assert own > 100
        assert others == (own if is_shared else 0)


async def test_what_is_handed_over_is_its_projects_on_both_replicas() -> None:
    async with kv_gateway(tenants=TWO) as kv:
        assert await cached(kv.rig, "one") > 100  # all of it came from the prefill replica
        await kv.wait_idle()
        kv.planner.origin = None
        for replica in (PREFILL, DECODE):
            kv.planner.target = replica
            assert await cached(kv.rig, "two") == 0
            assert await cached(kv.rig, "one") > 100


async def test_a_client_cannot_say_whose_cache_it_means() -> None:
    async with gateway_over(EmulatorServer(order()), pool={"model": MODEL, "engine": "vllm"}, tenants=TWO) as rig:
        messages = [{"role": "user", "content": SEA}]
        answer = await ask(rig.port, chat(bearer("two"), model=MODEL, messages=messages, cache_salt="guessed"))
        assert answer.status == 400
        assert "cache_salt" in answer.json["error"]["message"]
