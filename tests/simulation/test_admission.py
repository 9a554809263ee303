"""The same admission under two drivers: the simulator's virtual clock, and the gateway with real connections."""

import asyncio

import pytest
from msgspec import structs

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.tenant import Caller, ProjectId
from heterodyne.domain.urgency import Tier
from heterodyne.simulator.run import _Run, run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import chat
from tests.support.simulations import SLO, log, pools
from tests.support.turnstile import Turnstile

QUEUE = AdmissionSettings(queue_max=64, tenant_queue_max=64)


def caller(project: str, tier: Tier = Tier.SILVER) -> Caller:
    return structs.replace(LOCAL, project=ProjectId(project), tier=tier)


def day(*, gap_s: float, count: int = 400, seed: int = 7, **fields: object) -> tuple[_Run, SimulationTally]:
    """So many requests at an even pace before one H100."""
    trial = Trial(policy="slo", seed=seed, slo=SLO, **fields)  # type: ignore[arg-type]
    traffic = workload(log(count, gap_s))
    driven = _Run(pools(), traffic, trial, None)
    return driven, driven.drive(traffic)


@pytest.mark.parametrize("gap_s", [0.2, 0.005, 0.0005])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_request_is_answered_or_refused_and_afterwards_nothing_is_held(gap_s: float, seed: int) -> None:
    driven, tally = day(gap_s=gap_s, seed=seed, admission=QUEUE)
    admission = driven._admission
    assert admission is not None
    assert len(tally.total_s) + tally.refused + sum(tally.refusals.values()) == 400
    assert admission.controller.waiting == admission.limit.in_flight == admission.health.in_flight == 0
    assert admission.limit.by_replica == {}
    assert admission.book.outstanding == 0
    assert all(queue.running == 0 for queue in admission.controller.queues.snapshots(0.0))


def test_a_fleet_with_room_refuses_nobody_and_one_without_says_why() -> None:
    assert day(gap_s=0.2, admission=QUEUE)[1].refusals == {}
    refusals = day(gap_s=0.0005, admission=QUEUE)[1].refusals
    assert refusals
    assert set(refusals) <= {"queue_full", "not_in_time", "shed"}


def test_under_overload_those_let_in_keep_their_slo_more_often_than_without_admission() -> None:
    kept = [
        sum(ttft_s <= SLO.ttft_s for ttft_s in tally.ttft_s) / len(tally.ttft_s)
        for tally in (day(gap_s=0.0005, admission=QUEUE, count=2000)[1], day(gap_s=0.0005, count=2000)[1])
    ]
    assert kept[0] > kept[1]


def test_the_same_day_is_the_same_to_the_last_bit() -> None:
    first, second = (day(gap_s=0.001, admission=QUEUE)[1] for _ in range(2))
    assert first.ttft_s == second.ttft_s
    assert first.refusals == second.refusals


def test_bronze_gives_way_before_gold() -> None:
    trial = Trial(policy="slo", seed=7, slo=SLO, admission=QUEUE, callers=(caller("a", Tier.BRONZE),))
    bronze = run(pools(), workload(log(1500, 0.0005)), trial)
    gold = run(pools(), workload(log(1500, 0.0005)), structs.replace(trial, callers=(caller("b", Tier.GOLD),)))
    assert bronze.refusals.get("shed", 0) > gold.refusals.get("shed", 0) == 0


async def test_the_gateway_starts_and_has_wait_what_the_controller_says() -> None:
    turnstile = Turnstile()
    bounds = {"queue_max": 100, "tenant_queue_max": 100}  # so far from full that no tier gives way
    async with gateway_over(turnstile, pool={"in_flight_max": 2}, admission=bounds) as rig:
        controller = rig.gateway._controller
        asked = [asyncio.create_task(ask(rig.port, chat())) for _ in range(5)]
        await turnstile.wait_came(2)
        await rig.wait(lambda: controller.waiting == 3)
        assert turnstile.running == 2
        turnstile.let(5)
        assert {answer.status for answer in await asyncio.gather(*asked)} == {200}
        await rig.wait_empty()
        assert controller.waiting == 0
