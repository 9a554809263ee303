"""One vLLM computes prompts, another answers, over NIXL: `-s` prints what that took."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.fleet.free_ports import free_ports
from tests.engines.kv_fleet import FIRST, LOG, SECOND, kv_fleet
from tests.engines.running_vllm import RunningVllm, alone_on

pytestmark = pytest.mark.timeout(2400)
CONFIG = (
    '{"kv_connector":"NixlConnector","kv_role":"%s","kv_buffer_device":"cpu",'
    '"kv_connector_extra_config":{"num_threads":1}%s}'
)
HITS, BYTES = "vllm:external_prefix_cache_hits_total", "vllm:nixl_bytes_transferred_sum"
SECONDS = "vllm:nixl_xfer_time_seconds_sum"
SHOWN = (HITS, BYTES, SECONDS)


def started(folder: Path, role: str, core: int, more: str = "") -> RunningVllm:
    environment = {
        **alone_on(core),
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "lo",
        "VLLM_NIXL_SIDE_CHANNEL_HOST": "127.0.0.1",
        "VLLM_NIXL_SIDE_CHANNEL_PORT": str(free_ports(1)[0]),
    }
    words = ("--kv-transfer-config", CONFIG % (role, more))
    return RunningVllm(folder, *words, name=role, environment=environment)


@pytest.fixture(scope="module")
def engines(folder: Path) -> Iterator[tuple[RunningVllm, RunningVllm]]:
    prefill = started(folder, "kv_producer", 0)
    decode = started(folder, "kv_consumer", 1, ',"kv_load_failure_policy":"recompute"')
    try:
        for engine in (prefill, decode):
            engine.start()
        for engine in (prefill, decode):
            engine.wait_ready()
        yield prefill, decode
    finally:
        prefill.kill()
        decode.kill()


async def test_one_vllm_computes_and_another_answers(engines: tuple[RunningVllm, RunningVllm]) -> None:
    prefill, decode = engines
    async with kv_fleet((prefill.url, decode.url), engine="vllm", kv_transfer="nixl") as fleet:
        for question in ("Summarise the log.", "What is lit?"):  # the first one shakes hands, too
            before = [decode.counted(name) for name in SHOWN]
            messages = [{"role": "user", "content": f"{question} {LOG}"}]
            split = await fleet.turn(messages, SECOND, KvOrigin.PREFILL, FIRST)
            hits, moved, took_s = (decode.counted(name) - was for name, was in zip(SHOWN, before, strict=True))
            alone = await fleet.turn(messages, FIRST)
            assert (split.replica, alone.replica, split.text) == (SECOND, FIRST, alone.text)
            assert hits > 0.8 * split.usage["prompt_tokens"]
            messages = [{"role": "user", "content": f"Now: {question} {LOG}"}]
            computed = await fleet.turn(messages, SECOND)
            print(
                f"\nvLLM NIXL: {split.usage['prompt_tokens']} prompt tokens, {hits:.0f} from the other; first token "
                f"after {split.ttft_s * 1e3:.0f} ms split, {computed.ttft_s * 1e3:.0f} ms computed; "
                f"{moved / 1e6:.1f} MB in {took_s * 1e3:.0f} ms"
            )


async def test_a_prefill_replica_that_dies_costs_time_and_no_word(engines: tuple[RunningVllm, RunningVllm]) -> None:
    prefill, decode = engines
    async with kv_fleet((prefill.url, decode.url), engine="vllm", kv_transfer="nixl") as fleet:
        messages = [{"role": "user", "content": f"Who wrote it? {LOG}"}]
        prefill.kill()
        split = await fleet.turn(messages, SECOND, KvOrigin.PREFILL, FIRST)
        again = await fleet.turn(messages, SECOND)
        assert (split.replica, split.text) == (SECOND, again.text)
