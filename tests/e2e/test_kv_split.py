"""A prompt that is cheaper computed elsewhere: the router finds it, engines hand over, the books have both sides."""

from pathlib import Path

import pytest

from heterodyne.emulator.server import EmulatorServer
from tests.support.emulators import order
from tests.support.gateways import gateway_over
from tests.support.raw_client import connected
from tests.support.requests import chat

MODEL = "llama-3.1-8b"
LONG = "the sea is wide and deep and blue and cold, " * 250
SIDE = {
    "model": MODEL,
    "engine": "vllm",
    "kv_transfer": "nixl",
    "version": "1",
    "precision": "fp8",
    "kv_link": "h100-sxm",
}


async def test_a_long_prompt_is_computed_where_that_is_quick_and_answered_elsewhere(tmp_path: Path) -> None:
    async with EmulatorServer(order()) as prompts, EmulatorServer(order()) as answers:
        quick = SIDE | {"urls": (prompts.url,), "role": "prefill", "hardware": "h100-sxm", "price_usd_per_hour": 3.6}
        slow = SIDE | {"role": "decode", "hardware": "l4", "price_usd_per_hour": 0.0}
        async with gateway_over(
            pool=quick,
            rivals={"answers": (answers, slow)},
            model={"kv": "split", "slo_ttft_ms": 500.0},
            records=tmp_path / "records",
        ) as rig:
            await rig.wait(lambda: rig.gateway.takeable() == 2)
            async with connected(rig.port) as client:
                messages = [{"role": "user", "content": LONG}]
                answer = await client.ask(chat(model=MODEL, messages=messages, max_tokens=20, stream=True))
                short = await client.ask(chat(model=MODEL, messages=[{"role": "user", "content": "hi"}], max_tokens=5))
            assert answer.status == 200, answer.body
            assert answer.headers["x-heterodyne-replica"] == short.headers["x-heterodyne-replica"] == "answers-0"
            assert (prompts.engine.kv.pinned, answers.engine.kv.reads) == (0, 1), "the short one needs no other"
            split, plain = await rig.wait_records(2)
            assert (split.kv_origin, plain.kv_origin) == ("prefill", "")
            assert split.kv_bytes > 1e6
            assert split.kv_ms is not None
            assert split.kv_saved_ms is not None
            assert split.usd is not None
            assert split.usd > 0, "the other side has its price, though the one that answered costs nothing"
            assert plain.usd == 0
            await rig.wait_empty()
            assert prompts.engine.machine.blocks.used == answers.engine.machine.blocks.used == 0


@pytest.mark.parametrize("kv", ["prefix", "auto"])
async def test_a_prefill_replica_answers_nobody_while_others_can(kv: str) -> None:
    async with EmulatorServer(order()) as prompts, EmulatorServer(order()) as answers:
        quick = SIDE | {"urls": (prompts.url,), "role": "prefill", "hardware": "h100-sxm"}
        slow = SIDE | {"role": "decode", "hardware": "h100-sxm"}
        async with gateway_over(pool=quick, rivals={"answers": (answers, slow)}, model={"kv": kv}) as rig:
            await rig.wait(lambda: rig.gateway.takeable() == 2)
            async with connected(rig.port) as client:
                for _ in range(4):
                    answer = await client.ask(chat(model=MODEL, max_tokens=5))
                    assert (answer.status, answer.headers["x-heterodyne-pool"]) == (200, "answers")
