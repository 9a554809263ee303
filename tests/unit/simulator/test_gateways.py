"""Several gateways over one simulated fleet: they share work, tell each other of it, and a run can be repeated."""

import pytest
from msgspec import structs

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.errors import InvalidSpec
from heterodyne.simulator.report import SimulationReport, report
from heterodyne.simulator.run import run
from heterodyne.simulator.sharing import Sharing
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, log, pools

TRIAL = Trial(policy="slo", seed=7, slo=SLO)


TOGETHER = 8  # requests that come at one moment, as many as there are replicas


def simulated(gateways: int, sharing: Sharing | None = None) -> SimulationReport:
    trial = structs.replace(TRIAL, gateways=gateways, sharing=sharing)
    requests = [
        structs.replace(one, at_s=0.02 * TOGETHER * (number // TOGETHER), prompt_tokens=8 * one.prompt_tokens)
        for number, one in enumerate(log(600))
    ]
    return report(run(pools(replicas=8), workload(requests), trial), trial)


def test_long_prompts_that_come_at_one_moment_wait_longer_where_gateways_tell_each_other_nothing() -> None:
    one, apart, sharing = simulated(1), simulated(4), simulated(4, Sharing())
    assert apart.requests == sharing.requests == one.requests == 600
    assert one.ttft.p99_s <= sharing.ttft.p99_s < apart.ttft.p99_s
    assert one.attainment >= sharing.attainment > apart.attainment


def test_the_same_seed_gives_the_same_run() -> None:
    assert simulated(4, Sharing()) == simulated(4, Sharing())


def test_a_store_that_is_away_all_the_time_is_as_good_as_none() -> None:
    assert simulated(4, Sharing(away_from_s=0.0)) == simulated(4)


def test_admission_keeps_one_queue_and_so_one_gateway() -> None:
    trial = structs.replace(TRIAL, gateways=2, admission=AdmissionSettings())
    with pytest.raises(InvalidSpec, match="gateways"):
        run(pools(), workload(log(2)), trial)
