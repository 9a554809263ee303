"""A conversation moves from one llama.cpp to another, and its KV with it: `-s` prints what that took."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.gateway.kv.kv_failure import KvOutcome
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.telemetry import metrics
from tests.engines.kv_fleet import FIRST, LOG, SECOND, KvFleet, kv_fleet, wait
from tests.engines.running_vllm import MODEL

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def slots(tmp_path: Path) -> Path:
    folder = tmp_path / "slots"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def engines(gguf_file: Path, slots: Path) -> Iterator[tuple[str, str]]:
    how = {"context_tokens": 2048, "slots": 2, "threads": 2}
    with (
        running_llamacpp(gguf_file, slot_folder=slots, **how) as first,
        running_llamacpp(gguf_file, slot_folder=slots, **how) as second,
    ):
        yield first, second


def arrived(origin: KvOrigin) -> float:
    return metrics.kv_transfers.cell((MODEL, "pool", origin.value, KvOutcome.ARRIVED.value))[0]


def fleet_over(engines: tuple[str, str], slots: Path) -> AbstractAsyncContextManager[KvFleet]:
    store = {"disk": KvStoreSettings(medium="disk", capacity_gb=1.0, path=str(slots))}
    return kv_fleet(engines, engine="llamacpp", engine_model="parity", kv_transfer="slots", stores=store)


async def begun(fleet: KvFleet, question: str) -> list[dict[str, str]]:
    """A conversation whose first turn the first engine has answered; what the second turn asks."""
    await wait(lambda: all(fleet.upstream.kv.book(one) is not None for one in (FIRST, SECOND)))
    messages = [{"role": "user", "content": f"{question} {LOG}"}]
    first = await fleet.turn(messages, FIRST)
    assert first.cached_tokens < 50
    return [*messages, {"role": "assistant", "content": first.text}, {"role": "user", "content": "And the sea?"}]


async def test_a_conversation_that_moves_is_answered_from_the_kv_it_had(engines: tuple[str, str], slots: Path) -> None:
    async with fleet_over(engines, slots) as fleet:
        messages = await begun(fleet, "Summarise the log.")
        before = arrived(KvOrigin.PEER)
        moved = await fleet.turn(messages, SECOND, KvOrigin.PEER, FIRST)
        stayed = await fleet.turn(messages, FIRST)
        other = await begun(fleet, "How many keepers are there?")
        computed = await fleet.turn(other, SECOND)
        assert (moved.replica, arrived(KvOrigin.PEER) - before) == (SECOND, 1.0)
        assert moved.text == stayed.text, "the same greedy answer"
        prompt_tokens = moved.usage["prompt_tokens"]
        assert moved.cached_tokens > 0.95 * prompt_tokens, "by its own count the engine computed the rest alone"
        assert moved.ttft_s < computed.ttft_s / 2
        file_bytes = sum(path.stat().st_size for path in slots.glob("*.slot"))
        assert file_bytes > 1e6
        print(
            f"\nllama.cpp slots: {prompt_tokens} prompt tokens, {moved.cached_tokens} cached; first token after "
            f"{moved.ttft_s * 1e3:.0f} ms moved, {computed.ttft_s * 1e3:.0f} ms computed; {file_bytes / 1e6:.1f} MB"
        )
        # The file stays: a conversation whose engines have forgotten it comes back from the folder.
        for replica in (FIRST, SECOND):
            fleet.upstream.kv.forget(replica)
        await wait(lambda: all(fleet.upstream.kv.book(one) is not None for one in (FIRST, SECOND)))
        again = await fleet.turn(messages, SECOND, KvOrigin.STORE, None)
        assert (arrived(KvOrigin.STORE), again.text) == (1.0, stayed.text)
        assert again.cached_tokens > 0.9 * prompt_tokens


async def test_one_llamacpp_computes_a_prompt_and_another_answers(engines: tuple[str, str], slots: Path) -> None:
    async with fleet_over(engines, slots) as fleet:
        await wait(lambda: all(fleet.upstream.kv.book(one) is not None for one in (FIRST, SECOND)))
        messages = [{"role": "user", "content": f"What is lit? {LOG}"}]
        split = await fleet.turn(messages, SECOND, KvOrigin.PREFILL, FIRST)
        assert (split.replica, arrived(KvOrigin.PREFILL)) == (SECOND, 1.0)
        assert split.cached_tokens > 0.95 * split.usage["prompt_tokens"]
        alone = await fleet.turn(messages, FIRST)
        assert split.text == alone.text


async def test_a_file_that_was_changed_is_not_restored(engines: tuple[str, str], slots: Path) -> None:
    async with fleet_over(engines, slots) as fleet:
        messages = await begun(fleet, "Who wrote it?")
        moved = await fleet.turn(messages, SECOND, KvOrigin.PEER, FIRST)
        for file in slots.glob("*.slot"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
        stored = arrived(KvOrigin.STORE)
        again = await fleet.turn(messages, FIRST, KvOrigin.STORE, None)
        assert (again.text, arrived(KvOrigin.STORE)) == (moved.text, stored)
