"""A prefill replica that fails is ejected as any other replica is; prompts are computed by those that answer."""

import asyncio

import pytest

from heterodyne.emulator.faults import Faults, PoorHandOver
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.health.snapshot import Obstacle
from tests.support.kv_splits import split


@pytest.mark.parametrize(
    ("faults", "shown"),
    [
        (Faults(refuse_status=500), Outcome.ENGINE_FAILED),
        (Faults(hand_over=PoorHandOver.SILENT), Outcome.GARBAGE),
        (Faults(slowdown=100_000), Outcome.STALLED_BEFORE_FIRST_TOKEN),
    ],
    ids=["it answers 500", "it hands nothing over", "it does not answer in time"],
)
async def test_one_that_fails_is_ejected_and_no_prompt_goes_there(faults: Faults, shown: Outcome) -> None:
    async with split() as one:
        one.prefill.engine.set_faults(faults)
        await one.ask_until(lambda: one.health.obstacle is Obstacle.EJECTED)
        assert one.health.outcomes[shown.value] == 5
        asked = one.prompts
        for _ in range(3):
            await one.ask()
        assert one.prompts == asked, "plain, at once"


async def test_one_that_is_gone_is_ejected() -> None:
    async with split() as one:
        await one.prefill.close()
        await one.ask_until(
            lambda: one.health.obstacle is Obstacle.EJECTED or one.rig.gateway.takeable() == 1  # a probe was first
        )
        await one.ask()


async def test_it_comes_back_and_is_given_prompts_again() -> None:
    async with split(ejection_base_s=0.5, slow_start_s=0.1) as one:
        one.prefill.engine.set_faults(Faults(refuse_status=500))
        await one.ask_until(lambda: bool(one.health.ejections))
        one.prefill.engine.set_faults(Faults())
        await one.rig.wait(lambda: one.health.obstacle is None)
        await asyncio.sleep(0.1)  # its slow start
        reads = one.decode.engine.kv.reads
        await one.ask_until(lambda: one.decode.engine.kv.reads > reads)
        assert one.health.failures_in_a_row == 0


async def test_one_that_is_busy_is_not_ejected() -> None:
    async with split() as one:
        one.prefill.engine.set_faults(Faults(refuse_status=503))
        for _ in range(8):
            await one.ask()
        assert one.health.outcomes[Outcome.REFUSED_BUSY.value] >= 1
        assert one.health.ejections == 0
