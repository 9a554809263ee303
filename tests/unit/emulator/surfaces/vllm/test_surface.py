"""vLLM's pages over real HTTP."""

import asyncio

import msgspec
import pytest

from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.replica.job import Scheduling
from tests.support.emulators import order
from tests.support.surfaces import MODEL, call, chat, page, scrape

ADAPTER = {"lora_name": "tales", "lora_path": "/adapters/tales"}
# Shown only by engines with images, with a sampling flag for KV blocks, or with a check for broken logits.
ELSEWHERE = {
    "vllm:mm_cache_hits",
    "vllm:mm_cache_queries",
    "vllm:kv_block_idle_before_evict_seconds",
    "vllm:kv_block_lifetime_seconds",
    "vllm:kv_block_reuse_gap_seconds",
    "vllm:corrupted_requests",
}
NAMES = [
    "cache_config_info",
    "e2e_request_latency_seconds",
    "engine_sleep_state",
    "external_prefix_cache_hits",
    "external_prefix_cache_queries",
    "generation_tokens",
    "inter_token_latency_seconds",
    "iteration_tokens_total",
    "kv_cache_usage_perc",
    "lora_requests_info",
    "num_preemptions",
    "num_requests_running",
    "num_requests_waiting",
    "num_requests_waiting_by_reason",
    "prefix_cache_hits",
    "prefix_cache_queries",
    "prompt_tokens",
    "prompt_tokens_by_source",
    "prompt_tokens_cached",
    "request_decode_time_seconds",
    "request_generation_tokens",
    "request_inference_time_seconds",
    "request_max_num_generation_tokens",
    "request_params_max_tokens",
    "request_params_n",
    "request_prefill_kv_computed_tokens",
    "request_prefill_time_seconds",
    "request_prompt_tokens",
    "request_queue_time_seconds",
    "request_success",
    "request_time_per_output_token_seconds",
    "time_to_first_token_seconds",
]


async def test_every_metric_of_the_engine_is_there() -> None:
    async with EmulatorServer(order()) as server:
        metrics = await scrape(server)
    assert {f"vllm:{name}" for name in NAMES} == {name for name in metrics.families if name.startswith("vllm:")}
    assert not ELSEWHERE & set(metrics.families)
    assert metrics.value("process_start_time_seconds") == pytest.approx(server.engine.started_at_s)


async def test_counters_move_with_a_request() -> None:
    prompt = "word " * 400
    async with EmulatorServer(order()) as server:
        first = (await chat(server, prompt, max_tokens=5, ignore_eos=True)).json["usage"]
        await chat(server, prompt, max_tokens=5, ignore_eos=True)
        metrics = await scrape(server)
    tokens = first["prompt_tokens"]
    assert metrics.value("vllm:prompt_tokens_total") == 2 * tokens
    assert metrics.value("vllm:prefix_cache_queries_total") == 2 * tokens
    hits = metrics.value("vllm:prefix_cache_hits_total")
    assert tokens - 16 <= hits < tokens
    assert metrics.value("vllm:prompt_tokens_by_source_total", source="local_cache_hit") == hits
    assert metrics.value("vllm:prompt_tokens_by_source_total", source="local_compute") == 2 * tokens - hits
    assert metrics.value("vllm:generation_tokens_total") == 10
    assert metrics.value("vllm:request_success_total", finished_reason="length") == 2
    assert metrics.value("vllm:request_success_total", finished_reason="abort") == 0
    assert metrics.value("vllm:inter_token_latency_seconds_count") == 8
    for name in ("time_to_first_token", "e2e_request_latency", "request_queue_time", "request_prefill_time"):
        assert metrics.value(f"vllm:{name}_seconds_count") == 2
    parts = ("request_queue_time", "request_prefill_time", "request_decode_time")
    assert metrics.value("vllm:e2e_request_latency_seconds_sum") == pytest.approx(
        sum(metrics.value(f"vllm:{name}_seconds_sum") for name in parts)
    )


async def test_the_cache_is_described_by_labels() -> None:
    wanted = order()
    async with EmulatorServer(wanted) as server:
        labels = (await scrape(server)).labels("vllm:cache_config_info")
    assert labels["block_size"] == "16"
    assert labels["num_gpu_blocks"] == str(wanted.scheduling.blocks)


async def test_small_pages() -> None:
    async with EmulatorServer(order(engine_version="0.26.0")) as server:
        assert [(await page(server, path)).status for path in ("/health", "/ping")] == [200, 200]
        assert (await call(server, "/ping")).status == 200
        assert (await page(server, "/version")).json == {"version": "0.26.0"}
        assert (await page(server, "/load")).json == {"server_load": 0}
        (model,) = (await page(server, "/v1/models")).json["data"]
        assert (model["id"], model["max_model_len"], model["owned_by"]) == (MODEL, 4096, "vllm")
        unknown = await page(server, "/nowhere")
        assert (unknown.status, unknown.json["error"]["type"]) == (404, "NotFoundError")
        assert (await page(server, "/sleep")).status == 405


async def test_tokens_come_back_as_text() -> None:
    async with EmulatorServer(order()) as server:
        tokens = (await call(server, "/tokenize", {"prompt": "héllo there"})).json
        assert tokens["count"] == len(tokens["tokens"]) == 3
        assert (await call(server, "/detokenize", {"tokens": tokens["tokens"]})).json == {"prompt": "héllo there"}
        messages = {"messages": [{"role": "user", "content": "why is the sky blue?"}]}
        counted = (await call(server, "/tokenize", messages)).json["count"]
        assert counted == (await chat(server, max_tokens=1)).json["usage"]["prompt_tokens"]
        assert (await call(server, "/tokenize", {})).status == 400


async def test_adapters_are_loaded_asked_and_unloaded() -> None:
    async with EmulatorServer(order(adapters_max=1)) as server:
        assert (await chat(server, model="tales", max_tokens=1)).status == 404
        assert (await call(server, "/v1/load_lora_adapter", ADAPTER)).status == 200
        assert (await call(server, "/v1/load_lora_adapter", ADAPTER)).status == 400
        full = await call(server, "/v1/load_lora_adapter", {"lora_name": "other", "lora_path": "/other"})
        assert (full.status, full.json["error"]["type"]) == (500, "InternalServerError")
        assert (await call(server, "/v1/load_lora_adapter", {**ADAPTER, "base_model_name": "else"})).status == 404
        assert (await call(server, "/v1/load_lora_adapter", {"lora_name": "nowhere"})).status == 400
        models = (await page(server, "/v1/models")).json["data"]
        assert [(one["id"], one["parent"], one["root"]) for one in models[1:]] == [("tales", MODEL, "/adapters/tales")]
        assert (await chat(server, model="tales", max_tokens=1)).json["model"] == "tales"
        assert (await call(server, "/v1/unload_lora_adapter", {"lora_name": "tales"})).status == 200
        assert (await call(server, "/v1/unload_lora_adapter", {"lora_name": "tales"})).status == 404
        assert (await chat(server, model="tales", max_tokens=1)).status == 404


async def test_running_and_waiting_adapters_are_in_the_labels() -> None:
    one_at_a_time = Scheduling(slots=1, step_tokens=2048, blocks=1000)
    wanted = order(adapters=("tales", "songs"), scheduling=one_at_a_time, speed=1.0)
    async with EmulatorServer(wanted) as server:
        asking = [asyncio.create_task(chat(server, model="tales", max_tokens=2000, ignore_eos=True))]
        await until(server, running=1, waiting=0)
        asking.append(asyncio.create_task(chat(server, model="songs", max_tokens=2000, ignore_eos=True)))
        await until(server, running=1, waiting=1)
        labels = (await scrape(server)).labels("vllm:lora_requests_info")
        await stop(asking)
    assert labels == {"max_lora": "4", "running_lora_adapters": "tales", "waiting_lora_adapters": "songs"}


async def test_an_adapter_has_a_cache_of_its_own() -> None:
    prompt = "word " * 400
    async with EmulatorServer(order(adapters=("tales",))) as server:
        await chat(server, prompt, max_tokens=1)
        other = await chat(server, prompt, model="tales", max_tokens=1)
    assert other.json["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


async def test_a_sleeping_engine_ends_what_runs_and_lets_others_wait() -> None:
    async with EmulatorServer(order(speed=1.0)) as server:
        running = asyncio.create_task(chat(server, max_tokens=2000, ignore_eos=True))
        await until(server, running=1, waiting=0)
        assert (await call(server, "/sleep?level=1")).status == 200
        choice = (await running).json["choices"][0]
        assert choice["finish_reason"] == "abort"
        assert (await page(server, "/is_sleeping")).json == {"is_sleeping": True}
        assert (await page(server, "/health")).status == 200
        asleep = await scrape(server)
        assert asleep.value("vllm:engine_sleep_state", sleep_state="awake") == 0
        assert asleep.value("vllm:engine_sleep_state", sleep_state="weights_offloaded") == 1
        assert asleep.value("vllm:request_success_total", finished_reason="abort") == 1
        waiting = asyncio.create_task(chat(server, max_tokens=2))
        await until(server, running=0, waiting=1)
        assert (await call(server, "/wake_up?tags=weights")).status == 200
        assert (await page(server, "/is_sleeping")).json == {"is_sleeping": True}
        assert not waiting.done()
        await call(server, "/wake_up?tags=kv_cache")
        assert (await waiting).status == 200
        assert (await scrape(server)).value("vllm:engine_sleep_state", sleep_state="awake") == 1


async def test_a_stream_that_sleep_ends_is_whole() -> None:
    async with EmulatorServer(order(speed=1.0)) as server:
        running = asyncio.create_task(chat(server, max_tokens=2000, ignore_eos=True, stream=True, n=2))
        await until(server, running=2, waiting=0)
        await asyncio.sleep(0.05)
        await call(server, "/sleep")
        events = (await running).events
        assert server.engine.machine.blocks.used == 0
    assert events[-1] == b"[DONE]"
    closing = [msgspec.json.decode(event)["choices"][0] for event in events[-3:-1]]
    assert [(choice["index"], choice["finish_reason"]) for choice in closing] == [(0, "abort"), (1, "abort")]


async def test_turning_faults_does_not_wake_a_sleeper() -> None:
    async with EmulatorServer(order()) as server:
        await call(server, "/sleep?level=2&mode=keep")
        await call(server, "/emulator/faults", {})
        waiting = asyncio.create_task(chat(server, max_tokens=1))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        assert (await scrape(server)).value("vllm:engine_sleep_state", sleep_state="discard_all") == 1
        await call(server, "/wake_up")
        assert (await waiting).status == 200


@pytest.mark.parametrize(("words", "status"), [("level=3", 400), ("mode=later", 400), ("mode=wait", 501)])
async def test_a_sleep_nobody_knows_is_refused(words: str, status: int) -> None:
    async with EmulatorServer(order()) as server:
        assert (await call(server, f"/sleep?{words}")).status == status
        assert (await page(server, "/is_sleeping")).json == {"is_sleeping": False}


async def test_a_reset_cache_has_nothing() -> None:
    prompt = "word " * 400
    async with EmulatorServer(order()) as server:
        await chat(server, prompt, max_tokens=1)
        assert server.engine.machine.blocks.cached > 0
        assert (await call(server, "/reset_prefix_cache")).status == 200
        assert server.engine.machine.blocks.cached == 0
        again = await chat(server, prompt, max_tokens=1)
    assert again.json["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


async def until(server: EmulatorServer, *, running: int, waiting: int) -> None:
    """Wait for the machine to be so busy."""
    machine = server.engine.machine
    async with asyncio.timeout(30):
        while (machine.running, machine.waiting) != (running, waiting):
            await asyncio.sleep(0.005)


async def stop(tasks: list[asyncio.Task[object]]) -> None:
    """Leave as clients do."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
