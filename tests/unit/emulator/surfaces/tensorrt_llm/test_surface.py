"""The pages of `trtllm-serve` over real HTTP."""

from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from tests.support.emulators import order
from tests.support.surfaces import MODEL, call, chat, page, scrape

TENSORRT_LLM = EngineKind.TENSORRT_LLM
PROMPT = "word " * 400


async def test_prometheus_is_elsewhere_and_moves_with_a_request() -> None:
    wanted = order(TENSORRT_LLM)
    async with EmulatorServer(wanted) as server:
        for _ in range(2):
            await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        metrics = await scrape(server, "/prometheus/metrics")
    assert metrics.value("trtllm_request_success_total", finished_reason="length") == 2
    assert metrics.value("trtllm_generation_tokens_total") == 10
    assert metrics.value("trtllm_kv_cache_tokens_per_block") == wanted.scheduling.block_tokens == 32
    assert metrics.value("trtllm_kv_cache_max_blocks") == wanted.scheduling.blocks
    assert metrics.value("trtllm_kv_cache_utilization") == 0
    reused, missed = (metrics.value(f"trtllm_kv_cache_{name}_blocks_total") for name in ("reused", "missed"))
    assert metrics.value("trtllm_kv_cache_hit_rate") == reused / (reused + missed) > 0.4
    assert metrics.value("trtllm_num_requests_running") == metrics.value("trtllm_num_requests_waiting") == 0
    for name in ("time_to_first_token", "time_per_output_token", "e2e_request_latency", "request_queue_time"):
        assert metrics.value(f"trtllm_{name}_seconds_count") == 2


async def test_metrics_are_iterations_told_once() -> None:
    async with EmulatorServer(order(TENSORRT_LLM)) as server:
        await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        iterations = (await page(server, "/metrics")).json
        again = (await page(server, "/metrics")).json
    assert [one["iter"] for one in iterations] == [1, 2, 3, 4, 5]
    assert iterations[0]["inflightBatchingStats"]["numCtxTokens"] > 400
    assert iterations[0]["numNewActiveRequests"] == 1
    assert iterations[-1]["numCompletedRequests"] == 1
    assert iterations[0]["kvCacheStats"]["usedNumBlocks"] > 0
    assert again == []


async def test_single_requests_are_told_once() -> None:
    async with EmulatorServer(order(TENSORRT_LLM)) as server:
        await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        (told,) = (await page(server, "/perf_metrics")).json
        assert (await page(server, "/perf_metrics")).json == []
    times = told["perf_metrics"]["timing_metrics"]
    order_of_events = [times[f"{name}_time"] for name in ("arrival", "first_scheduled", "first_token", "last_token")]
    assert order_of_events == sorted(order_of_events)


async def test_kv_events_are_polled_once_and_chain() -> None:
    wanted = order(TENSORRT_LLM)
    async with EmulatorServer(wanted) as server:
        await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        events = (await call(server, "/kv_cache_events")).json
        assert (await call(server, "/kv_cache_events")).json == []
        await chat(server, PROMPT, max_tokens=5, ignore_eos=True)
        assert (await call(server, "/kv_cache_events")).json == []
    assert [one["event_id"] for one in events] == list(range(len(events)))
    assert events[0]["data"] == {"type": "created", "num_blocks_per_cache_level": [wanted.scheduling.blocks, 0]}
    stored = [one["data"] for one in events[1:]]
    assert {one["type"] for one in stored} == {"stored"}
    assert stored[0]["parent_hash"] is None
    assert all(len(block["tokens"]) == 32 for one in stored for block in one["blocks"])


async def test_small_pages() -> None:
    async with EmulatorServer(order(TENSORRT_LLM, engine_version="1.2.0")) as server:
        assert (await page(server, "/health")).status == 200
        assert (await page(server, "/health_generate")).body == b"Generation health check OK"
        assert (await page(server, "/version")).json == {"version": "1.2.0"}
        (model,) = (await page(server, "/v1/models")).json["data"]
        assert (model["id"], model["owned_by"]) == (MODEL, "tensorrt_llm")
        wrong = await chat(server, model="other")
        assert (wrong.status, wrong.json["object"]) == (404, "error")


async def test_released_memory_refuses_until_it_is_back() -> None:
    async with EmulatorServer(order(TENSORRT_LLM)) as server:
        assert (await call(server, "/release_memory", {"tags": ["model", "kv_cache"]})).json == {"status": "success"}
        assert (await chat(server, max_tokens=1)).status == 503
        assert {one["data"]["type"] for one in (await call(server, "/kv_cache_events")).json} == {"created"}
        assert (await page(server, "/health_generate")).status == 500
        assert (await call(server, "/resume_memory", {"tags": ["model", "kv_cache"]})).status == 200
        assert (await chat(server, max_tokens=1)).status == 200
