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


def simulated(gateways: int, sharing: Sharing | None = None) -> SimulationReport:
    trial = structs.replace(TRIAL, gateways=gateways, sharing=sharing)
    return report(run(pools(replicas=8), workload(log(600, gap_s=0.01)), trial), trial)


def test_gateways_that_tell_each_other_nothing_load_replicas_less_evenly() -> None:
    one, apart, sharing = simulated(1), simulated(4), simulated(4, Sharing(interval_s=0.05))
    assert apart.requests == sharing.requests == one.requests == 600
    assert one.inside_hottest <= sharing.inside_hottest < apart.inside_hottest


def test_the_same_seed_gives_the_same_run() -> None:
    assert simulated(4, Sharing()) == simulated(4, Sharing())


def test_a_store_that_is_away_all_the_time_is_as_good_as_none() -> None:
    assert simulated(4, Sharing(away_from_s=0.0)) == simulated(4)


def test_admission_keeps_one_queue_and_so_one_gateway() -> None:
    trial = structs.replace(TRIAL, gateways=2, admission=AdmissionSettings())
    with pytest.raises(InvalidSpec, match="gateways"):
        run(pools(), workload(log(2)), trial)
