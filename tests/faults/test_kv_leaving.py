"""What a replica holds goes on elsewhere when it drains, and a drain ends whatever becomes of that."""

import asyncio
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.emulator.faults import Faults
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas
from heterodyne.telemetry import metrics
from tests.faults.kv_rows import ask, words
from tests.support.kv_plans import DECODE, MODEL, PREFILL, KvRig, kv_gateway


@pytest.fixture
def slots(tmp_path: Path) -> Path:
    return tmp_path / "slots"


def drain(rig: KvRig) -> None:
    """The first replica takes nothing new."""
    gateway = rig.rig.gateway
    settings = gateway.settings
    replicas = tuple(structs.replace(one, is_draining=one.id == PREFILL) for one in remote_replicas(settings))
    gateway.apply(settings, replicas, model_rules(settings), gateway.version + 1)


def counted(outcome: str) -> float:
    return metrics.kv_slots_handed_over.cell((MODEL, "pool", outcome))[0]


def is_busy(rig: KvRig) -> bool:
    """Whether a drain would wait for the first replica."""
    return PREFILL in rig.rig.gateway.view("").in_flight_by_replica


async def first_turn(rig: KvRig) -> str:
    rig.planner.target, rig.planner.origin = PREFILL, None
    answer, _ = await ask(rig, stream=True)
    return words(answer, stream=True)


async def next_turn(rig: KvRig) -> tuple[str, float]:
    """On the other replica, and the prompt tokens that it computed."""
    rig.planner.target, rig.planner.origin, rig.planner.source = DECODE, KvOrigin.STORE, None
    before = rig.decode.engine.observations.computed_tokens.sum
    answer, _ = await ask(rig, stream=True)
    assert answer.headers["x-heterodyne-replica"] == DECODE
    return words(answer, stream=True), rig.decode.engine.observations.computed_tokens.sum - before


async def test_conversations_of_a_replica_that_drains_go_on_elsewhere(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        first, before = await first_turn(rig), counted("saved")
        drain(rig)
        assert is_busy(rig), "or it would end before its slots are saved"
        await rig.rig.wait(lambda: not is_busy(rig))
        assert counted("saved") - before == 1
        await rig.kill_prefill()
        said, computed = await next_turn(rig)
        assert said == first
        assert computed < 20, "of some hundred tokens"


async def test_what_is_answered_while_it_drains_is_saved_then(slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        before = counted("saved")
        rig.prefill.engine.set_faults(Faults(slowdown=20))
        turn = asyncio.create_task(first_turn(rig))
        await rig.rig.wait(lambda: bool(rig.prefill.engine.machine.running))
        drain(rig)
        first = await turn
        await rig.rig.wait(lambda: not is_busy(rig))
        assert counted("saved") - before == 1
        assert (await next_turn(rig))[0] == first


async def unwritable(rig: KvRig, slots: Path) -> None:
    shutil.rmtree(slots)


async def killed(rig: KvRig, slots: Path) -> None:
    await rig.kill_prefill()


@pytest.mark.parametrize("spoil", [unwritable, killed])
async def test_a_save_that_fails_changes_nothing(spoil: object, slots: Path) -> None:
    async with kv_gateway(slots=slots) as rig:
        first, before = await first_turn(rig), counted("failed")
        await spoil(rig, slots)  # type: ignore[operator]
        drain(rig)
        await rig.rig.wait(lambda: counted("failed") - before == 1 and not is_busy(rig))
        assert (await next_turn(rig))[0] == first
        book = rig.upstream.kv.book(PREFILL)
        assert book is None or not book.busy
