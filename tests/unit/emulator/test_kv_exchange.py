"""One emulated vLLM computes a prompt, another answers: as NixlConnector's requests and answers have it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from heterodyne.emulator.faults import Faults, HandOver
from heterodyne.emulator.kv_exchange import TAKE
from heterodyne.emulator.server import EmulatorServer
from tests.support.emulators import order
from tests.support.surfaces import call, chat, scrape

PROMPT = "the sea is wide and deep and blue and cold, " * 40
PREFILL = {"do_remote_decode": True, "do_remote_prefill": False}


@asynccontextmanager
async def pair(**changes: object) -> AsyncIterator[tuple[EmulatorServer, EmulatorServer]]:
    async with EmulatorServer(order(**changes)) as prefill, EmulatorServer(order(**changes)) as decode:  # type: ignore[arg-type]
        yield prefill, decode


async def handed_over(server: EmulatorServer) -> Any:
    answer = await chat(server, PROMPT, max_tokens=1, kv_transfer_params=PREFILL)
    return answer.json.get("kv_transfer_params")


async def test_a_prompt_computed_by_one_is_read_by_the_other_and_let_go() -> None:
    async with pair() as (prefill, decode):
        plain = (await chat(decode, PROMPT, cache_salt="other")).json
        params = await handed_over(prefill)
        assert (prefill.engine.kv.pinned, params["remote_port"]) == (1, prefill.port)
        answer = (await chat(decode, PROMPT, kv_transfer_params=params)).json
        assert answer["choices"][0]["message"]["content"] == plain["choices"][0]["message"]["content"]
        prompt_tokens = answer["usage"]["prompt_tokens"]
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == prompt_tokens - 1
        assert (prefill.engine.kv.pinned, prefill.engine.machine.blocks.used) == (0, 0)
        page = await scrape(decode)
        assert page.value("vllm:external_prefix_cache_hits_total") == prompt_tokens
        assert page.value("vllm:prompt_tokens_by_source_total", source="external_kv_transfer") == prompt_tokens
        assert page.value("vllm:nixl_bytes_transferred_sum") > 0


async def test_what_cannot_be_read_is_computed_with_the_same_words() -> None:
    async with pair(speed=100.0) as (prefill, decode):
        plain = (await chat(decode, PROMPT, cache_salt="other")).json
        params = await handed_over(prefill)
        await prefill.close()
        answer = (await chat(decode, PROMPT, kv_transfer_params=params)).json
        assert answer["choices"][0]["message"]["content"] == plain["choices"][0]["message"]["content"]
        assert (decode.engine.kv.reads_failed, decode.engine.kv.external_tokens) == (1, 0)


@pytest.mark.parametrize("fault", [HandOver.SILENT, HandOver.EXPIRED])
async def test_what_is_not_handed_over_is_not_held(fault: HandOver) -> None:
    async with pair() as (prefill, _):
        prefill.engine.set_faults(Faults(hand_over=fault))
        params = await handed_over(prefill)
        assert (params is None) == (fault is HandOver.SILENT)
        assert (prefill.engine.kv.pinned, prefill.engine.machine.blocks.used) == (0, 0)


async def test_half_of_a_prompt_is_used_as_far_as_it_goes() -> None:
    async with pair() as (prefill, decode):
        prefill.engine.set_faults(Faults(hand_over=HandOver.SHORT))
        answer = (await chat(decode, PROMPT, kv_transfer_params=await handed_over(prefill))).json
        usage = answer["usage"]
        assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] // 2


async def test_a_lease_ends_and_so_does_a_read_that_nobody_waits_for() -> None:
    async with pair() as (prefill, decode):
        params = await handed_over(prefill)
        decode.engine.set_faults(Faults(kv_slowdown=10_000))
        reading = asyncio.create_task(chat(decode, PROMPT, kv_transfer_params=params))
        async with asyncio.timeout(10):
            while not decode.engine.machine.blocks.used:
                await asyncio.sleep(0.01)
        reading.cancel()
        async with asyncio.timeout(10):
            while decode.engine.machine.blocks.used:
                await asyncio.sleep(0.01)
        assert prefill.engine.kv.pinned == 1
        prefill.engine.kv.end_leases()
        assert (prefill.engine.kv.pinned, prefill.engine.kv.expired, prefill.engine.machine.blocks.used) == (0, 1, 0)
        assert (await call(prefill, TAKE, {"request_id": params["remote_request_id"]})).json == {"tokens": 0}
