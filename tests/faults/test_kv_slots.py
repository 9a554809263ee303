"""Conversations of llama.cpp that move in files, and files that are not what they should be."""

import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from heterodyne.domain.fleet import Replica
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.gateway.kv.kv_failure import KvOutcome
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry import metrics
from tests.faults.kv_rows import SEA, ask, words
from tests.support.kv_plans import DECODE, MODEL, PREFILL, KvRig, kv_gateway
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

OTHER = "the hills are green and wide and old and still, " * 40


@pytest.fixture
def slots(tmp_path: Path) -> Path:
    return tmp_path / "slots"


async def turn(rig: KvRig, target: str, origin: KvOrigin | None = None, content: str = SEA) -> Answer:
    planner = rig.planner
    planner.target, planner.origin = target, origin  # type: ignore[assignment]
    planner.source = None if origin is KvOrigin.STORE else PREFILL
    answer, _ = await ask(rig, stream=True, content=content)
    assert answer.headers["x-heterodyne-replica"] == target
    return answer


def counted(origin: KvOrigin, outcome: KvOutcome) -> float:
    return metrics.kv_transfers.cell((MODEL, "pool", origin.value, outcome.value))[0]


def computed(rig: KvRig) -> float:
    """Prompt tokens, by the second replica."""
    return float(rig.decode.engine.observations.computed_tokens.sum)


async def test_a_conversation_goes_on_elsewhere_from_what_it_had(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        first = words(await turn(rig, PREFILL), stream=True)
        before = counted(KvOrigin.PEER, KvOutcome.ARRIVED), computed(rig)
        moved = words(await turn(rig, DECODE, KvOrigin.PEER), stream=True)
        assert (moved, counted(KvOrigin.PEER, KvOutcome.ARRIVED) - before[0]) == (first, 1)
        assert computed(rig) - before[1] < 20, "of some hundred tokens"
        assert {path.suffix for path in slots.iterdir()} == {".slot", ".json"}
        await rig.wait_idle()


async def test_a_prompt_that_one_computes_for_another_comes_in_a_file(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        before = computed(rig)
        split = words(await turn(rig, DECODE, KvOrigin.PREFILL), stream=True)
        assert computed(rig) - before < 20
        assert split == words(await turn(rig, PREFILL), stream=True)
        await rig.wait_idle()


async def cut(rig: KvRig, slots: Path) -> None:
    for path in slots.glob("*.slot"):
        path.write_bytes(path.read_bytes()[:-1])


async def changed(rig: KvRig, slots: Path) -> None:
    for path in slots.glob("*.slot"):
        path.write_bytes(b"x" + path.read_bytes()[1:])


async def gone(rig: KvRig, slots: Path) -> None:
    shutil.rmtree(slots)


async def killed(rig: KvRig, slots: Path) -> None:
    await rig.kill_prefill()


@pytest.mark.parametrize("origin", [KvOrigin.PEER, KvOrigin.STORE])
@pytest.mark.parametrize("spoil", [cut, changed, gone, killed])
async def test_what_is_not_as_it_should_be_is_computed(
    spoil: Callable[[KvRig, Path], Awaitable[None]], origin: KvOrigin, slots: Path
) -> None:
    async with kv_gateway(slots=slots) as rig:
        first = words(await turn(rig, PREFILL), stream=True)
        await turn(rig, DECODE, KvOrigin.PEER)  # so that there is a file
        await turn(rig, DECODE, content=OTHER)
        await rig.rig.wait(rig.decode.engine.reset_cache)
        await spoil(rig, slots)
        assert words(await turn(rig, DECODE, origin), stream=True) == first
        await rig.rig.wait_empty()
        await rig.wait_idle()


async def test_a_file_of_one_tenant_is_found_by_no_other(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        await turn(rig, PREFILL)
        await turn(rig, DECODE, KvOrigin.PEER)
        before = counted(KvOrigin.STORE, KvOutcome.MISSING)
        decide = rig.planner.decide

        def of_another(request: RoutingRequest, usable: Sequence[Replica], now_s: float) -> RoutingChoice:
            request.tenant = b"another"
            return decide(request, usable, now_s)

        rig.upstream.router.decide = of_another  # type: ignore[method-assign]
        await turn(rig, DECODE, KvOrigin.STORE)
        assert counted(KvOrigin.STORE, KvOutcome.MISSING) - before == 1


async def test_requests_beyond_the_slots_leave_nothing_believed(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        await turn(rig, PREFILL)
        book = rig.upstream.kv.book(PREFILL)
        assert book is not None
        taken = []
        while (slot := book.try_take((1,))) is not None:
            taken.append(slot)
        await turn(rig, PREFILL)
        for slot in taken:
            book.release(slot)
        before = counted(KvOrigin.PEER, KvOutcome.MISSING)
        await turn(rig, DECODE, KvOrigin.PEER)
        assert counted(KvOrigin.PEER, KvOutcome.MISSING) - before == 1
        async with connected(rig.rig.port) as client:
            assert (await client.ask(chat(model=MODEL, n=2, max_tokens=4))).status == 200
        await rig.wait_idle()


async def test_a_replica_that_has_restarted_is_asked_for_its_slots_again_at_once(tmp_path: Path) -> None:
    async with kv_gateway(slots=tmp_path) as kv:
        before = kv.upstream.kv.book(DECODE)
        kv.upstream.kv.forget(DECODE)
        assert kv.upstream.kv.book(DECODE) is None
        await kv.rig.wait(lambda: kv.upstream.kv.book(DECODE) is not None)
        assert kv.upstream.kv.book(DECODE) is not before
