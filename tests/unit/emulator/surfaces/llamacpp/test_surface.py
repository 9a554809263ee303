"""The pages of llama.cpp's server over real HTTP."""

import asyncio

import msgspec

from heterodyne.emulator.faults import Faults
from heterodyne.emulator.server import EmulatorServer
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.replica.job import Scheduling
from tests.support.emulators import order
from tests.support.surfaces import MODEL, call, chat, page, scrape

LLAMACPP = EngineKind.LLAMACPP


async def test_counters_move_with_a_request_and_kv_memory_is_no_gauge() -> None:
    async with EmulatorServer(order(LLAMACPP, speed=1.0)) as server:
        usage = (await chat(server, max_tokens=5, ignore_eos=True)).json["usage"]
        metrics = await scrape(server)
    assert metrics.value("llamacpp:prompt_tokens_total") == usage["prompt_tokens"]
    assert metrics.value("llamacpp:tokens_predicted_total") == 5
    assert metrics.value("llamacpp:n_decode_total") == 5
    assert metrics.value("llamacpp:n_busy_slots_per_decode") == 1
    assert metrics.value("llamacpp:n_tokens_max") == usage["prompt_tokens"] + 5
    assert metrics.value("llamacpp:prompt_seconds_total") > 0
    assert metrics.value("llamacpp:predicted_tokens_seconds") > 0
    assert metrics.value("llamacpp:requests_processing") == metrics.value("llamacpp:requests_deferred") == 0
    assert not [name for name in metrics.names if "kv" in name]


async def test_slots_show_who_is_served() -> None:
    two = Scheduling(slots=2, step_tokens=2048, blocks=1000)
    async with EmulatorServer(order(LLAMACPP, speed=1.0, scheduling=two)) as server:
        idle = (await page(server, "/slots")).json
        running = [asyncio.create_task(chat(server, max_tokens=2000, ignore_eos=True)) for _ in range(3)]
        async with asyncio.timeout(30):
            while server.engine.machine.running < 2:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        busy = (await page(server, "/slots")).json
        full = await page(server, "/slots?fail_on_no_slot=1")
        deferred = (await scrape(server)).value("llamacpp:requests_deferred")
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    assert [(slot["id"], slot["is_processing"]) for slot in idle] == [(0, False), (1, False)]
    assert [slot["is_processing"] for slot in busy] == [True, True]
    assert all(slot["next_token"][0]["n_decoded"] > 0 for slot in busy)
    assert (full.status, full.json["error"]["type"]) == (503, "unavailable_error")
    assert deferred == 1


async def test_small_pages() -> None:
    async with EmulatorServer(order(LLAMACPP, engine_version="b8681")) as server:
        assert (await page(server, "/health")).json == {"status": "ok"}
        (model,) = (await page(server, "/v1/models")).json["data"]
        assert (model["id"], model["owned_by"]) == (MODEL, "llamacpp")
        props = (await page(server, "/props")).json
        assert (props["total_slots"], props["build_info"], props["model_alias"]) == (4, "b8681", MODEL)
        assert props["default_generation_settings"]["n_ctx"] == 4096
        assert (await page(server, "/slots?fail_on_no_slot=1")).status == 200


async def test_errors_have_code_message_and_type() -> None:
    async with EmulatorServer(order(LLAMACPP), faults=Faults(is_unhealthy=True)) as server:
        unhealthy = await page(server, "/health")
        long = await chat(server, max_tokens=5000)
        broken = await call(server, "/tokenize", {"text": "x"})
    assert (unhealthy.status, unhealthy.json["error"]["type"]) == (503, "unavailable_error")
    assert set(long.json["error"]) == {"code", "message", "type"}
    assert (long.json["error"]["code"], long.json["error"]["type"]) == (400, "exceed_context_size_error")
    assert (broken.status, broken.json["error"]["type"]) == (400, "invalid_request_error")


async def test_tokens_come_back_as_text() -> None:
    async with EmulatorServer(order(LLAMACPP)) as server:
        tokens = (await call(server, "/tokenize", {"content": "hello there"})).json["tokens"]
        pieces = (await call(server, "/tokenize", {"content": "hello there", "with_pieces": True})).json["tokens"]
        text = (await call(server, "/detokenize", {"tokens": tokens})).json
    assert [one["piece"] for one in pieces] == ["hell", "o th", "ere"]
    assert [one["id"] for one in pieces] == tokens
    assert text == {"content": "hello there"}


async def test_adapters_come_with_the_start_and_have_scales() -> None:
    async with EmulatorServer(order(LLAMACPP, adapters=("tales.gguf", "songs.gguf"))) as server:
        before = (await page(server, "/lora-adapters")).json
        await call(server, "/lora-adapters", [{"id": 1, "scale": 0.5}])
        after = (await page(server, "/lora-adapters")).json
    assert [(one["id"], one["path"], one["scale"]) for one in before] == [(0, "tales.gguf", 1), (1, "songs.gguf", 1)]
    assert [one["scale"] for one in after] == [0, 0.5]


async def test_an_answer_ends_with_its_timings() -> None:
    async with EmulatorServer(order(LLAMACPP)) as server:
        whole = (await chat(server, max_tokens=5, ignore_eos=True)).json
        plain = (await chat(server, "one", max_tokens=5, ignore_eos=True, stream=True)).events
        counted = (await chat(server, "two", max_tokens=5, stream=True, stream_options={"include_usage": True})).events
    assert whole["timings"]["predicted_n"] == 5
    assert whole["timings"]["prompt_n"] == whole["usage"]["prompt_tokens"]
    for events in (plain, counted):
        assert events[-1] == b"[DONE]"
        with_timings = ["timings" in msgspec.json.decode(event) for event in events[:-1]]
        assert with_timings == [False] * (len(with_timings) - 1) + [True]
