"""SGLang's pages over real HTTP."""

import asyncio

import pytest

from heterodyne.emulator.faults import Faults, Lie
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from tests.support.emulators import order
from tests.support.surfaces import MODEL, Scrape, call, chat, page, scrape

SGLANG = EngineKind.SGLANG
PROMPT = "word " * 400


async def test_counters_move_with_a_request() -> None:
    wanted = order(SGLANG)
    async with EmulatorServer(wanted) as server:
        first = (await chat(server, PROMPT, max_tokens=5, ignore_eos=True)).json["usage"]
        await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        metrics = await scrape(server)
    tokens = first["prompt_tokens"]
    assert metrics.value("sglang:prompt_tokens_total") == 2 * tokens
    assert metrics.value("sglang:generation_tokens_total") == 10
    cached = metrics.value("sglang:cached_tokens_total", cache_source="device")
    assert tokens - 16 <= cached < tokens
    assert metrics.value("sglang:cache_hit_rate") == pytest.approx(cached / (2 * tokens))
    assert metrics.value("sglang:num_requests_total") == 2
    assert metrics.value("sglang:num_running_reqs") == metrics.value("sglang:num_queue_reqs") == 0
    assert metrics.value("sglang:token_usage") == 0
    assert metrics.value("sglang:max_total_num_tokens") == wanted.scheduling.kv_tokens
    pools = ("kv_used_tokens", "kv_evictable_tokens", "kv_available_tokens")
    assert sum(metrics.value(f"sglang:{name}") for name in pools) == wanted.scheduling.kv_tokens
    assert metrics.value("sglang:kv_evictable_tokens") >= cached
    for name in ("time_to_first_token", "inter_token_latency", "e2e_request_latency", "queue_time"):
        assert metrics.value(f"sglang:{name}_seconds_count") > 0


async def test_small_pages() -> None:
    async with EmulatorServer(order(SGLANG, engine_version="0.5.9")) as server:
        assert [(await page(server, path)).status for path in ("/health", "/health_generate")] == [200, 200]
        (model,) = (await page(server, "/v1/models")).json["data"]
        assert (model["id"], model["owned_by"]) == (MODEL, "sglang")
        info = (await page(server, "/model_info")).json
        assert info == (await page(server, "/get_model_info")).json
        assert info["is_generation"] is True
        server_info = (await page(server, "/server_info")).json
        assert server_info == (await page(server, "/get_server_info")).json
        assert (server_info["version"], server_info["kv_events"]) == ("0.5.9", None)
        assert server_info["served_model_name"] == MODEL


async def test_errors_lie_flat() -> None:
    async with EmulatorServer(order(SGLANG)) as server:
        answer = await chat(server, model="other")
    assert answer.status == 404
    assert answer.json == {
        "object": "error",
        "message": "The model `other` does not exist.",
        "type": "NotFoundError",
        "param": "model",
        "code": 404,
    }


async def test_loads_tell_what_runs_in_two_formats() -> None:
    wanted = order(SGLANG, speed=1.0)
    async with EmulatorServer(wanted) as server:
        running = asyncio.create_task(chat(server, PROMPT, max_tokens=2000, ignore_eos=True))
        async with asyncio.timeout(30):
            while not server.engine.machine.running:
                await asyncio.sleep(0.005)
        loads = (await page(server, "/v1/loads")).json
        core = (await page(server, "/v1/loads?include=core")).json["loads"][0]
        text = await page(server, "/v1/loads?format=prometheus")
        old = (await page(server, "/get_load")).json
        wrong = await page(server, "/v1/loads?include=everything")
        server.engine.set_faults(Faults(lie=Lie.IDLE))
        idle = (await page(server, "/v1/loads")).json["loads"][0]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    (load,) = loads["loads"]
    assert (loads["accelerator"], loads["num_accelerators"]) == (wanted.layout.accelerator.name, 1)
    assert (load["num_running_reqs"], load["num_waiting_reqs"], load["queues"]["waiting"]) == (1, 0, 0)
    assert 0 < load["token_usage"] < 1
    assert load["num_used_tokens"] > 400
    assert "queues" not in core
    assert "memory" not in core
    assert Scrape(text.body).value("sglang_num_running_reqs", dp_rank="0") == 1
    assert (old[0]["num_reqs"], old[0]["num_waiting_reqs"]) == (1, 0)
    assert wrong.status == 400
    assert (idle["num_running_reqs"], idle["token_usage"]) == (0, 0)


async def test_adapters_are_loaded_and_unloaded() -> None:
    adapter = {"lora_name": "tales", "lora_path": "/adapters/tales"}
    async with EmulatorServer(order(SGLANG, adapters_max=1)) as server:
        loaded = (await call(server, "/load_lora_adapter", adapter)).json
        assert loaded == {"success": True, "error_message": "", "loaded_adapters": {"tales": "/adapters/tales"}}
        again = await call(server, "/load_lora_adapter", adapter)
        assert (again.status, again.json["success"]) == (400, False)
        full = await call(server, "/load_lora_adapter", {"lora_name": "songs", "lora_path": "/songs"})
        assert "No room for songs" in full.json["error_message"]
        assert (await scrape(server)).value("sglang:lora_pool_slots_used") == 1
        assert (await chat(server, model="tales", max_tokens=1)).status == 200
        assert (await call(server, "/unload_lora_adapter", {"lora_name": "tales"})).json["loaded_adapters"] == {}
        assert (await call(server, "/unload_lora_adapter", {"lora_name": "tales"})).status == 400


async def test_released_memory_refuses_until_it_is_back() -> None:
    async with EmulatorServer(order(SGLANG)) as server:
        await chat(server, PROMPT, max_tokens=1)
        assert (await call(server, "/release_memory_occupation", {"tags": ["kv_cache"]})).status == 200
        assert server.engine.machine.blocks.cached == 0
        assert (await chat(server, max_tokens=1)).status == 503
        assert (await call(server, "/resume_memory_occupation")).status == 200
        assert (await chat(server, max_tokens=1)).status == 200


async def test_memory_in_use_stays() -> None:
    async with EmulatorServer(order(SGLANG, speed=1.0)) as server:
        running = asyncio.create_task(chat(server, PROMPT, max_tokens=2000, ignore_eos=True))
        async with asyncio.timeout(30):
            while not server.engine.machine.running:
                await asyncio.sleep(0.005)
        assert (await call(server, "/release_memory_occupation")).status == 400
        assert (await call(server, "/flush_cache")).status == 400
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_flushed_cache_is_empty() -> None:
    async with EmulatorServer(order(SGLANG)) as server:
        await chat(server, PROMPT, max_tokens=1)
        assert (await call(server, "/flush_cache")).body.startswith(b"Cache flushed.")
        assert server.engine.machine.blocks.cached == 0
