"""Pools that become slower while they serve, and what the router thought before and after."""

from statistics import median

import pytest

from heterodyne.domain.errors import UnknownName
from heterodyne.simulator.report import report
from heterodyne.simulator.run import run
from heterodyne.simulator.tally import SimulationTally
from heterodyne.simulator.trial import SpeedChange, Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, log, pools

REQUESTS, GAP_S = 1200, 0.05
HALF_S = REQUESTS * GAP_S / 2
SLOWER = SpeedChange(at_s=HALF_S, pool="only", slowdown=3.0)


def drive(*changes: SpeedChange, keeps_forecasts: bool = True) -> SimulationTally:
    trial = Trial(policy="slo", seed=1, slo=SLO, speed_changes=changes, keeps_forecasts=keeps_forecasts)
    return run(pools(replicas=2), workload(log(REQUESTS, gap_s=GAP_S)), trial)


def paces(tally: SimulationTally, since_s: float, until_s: float) -> list[tuple[float, float]]:
    """ITL as it was foretold and as it was, of long answers to requests that came in a time."""
    told = zip(tally.predicted, tally.itl_s, tally.output_tokens, strict=True)
    came = sorted((one.at_s, one.itl_s, itl_s) for one, itl_s, tokens in told if tokens > 50)
    return [(expected_s, itl_s) for at_s, expected_s, itl_s in came if since_s <= at_s < until_s]


def test_a_pool_that_becomes_slower_takes_longer_from_then_on() -> None:
    usual, slower = drive(), drive(SLOWER)
    for since_s, until_s, least, most in ((0.0, HALF_S - 5.0, 0.99, 1.01), (HALF_S + 1.0, 2 * HALF_S, 2.5, 6.0)):
        before, after = (median(actual for _, actual in paces(one, since_s, until_s)) for one in (usual, slower))
        assert least < after / before < most


def test_the_router_learns_of_it_from_the_answers() -> None:
    tally = drive(SLOWER)
    at_once, later = paces(tally, HALF_S, HALF_S + 0.5), paces(tally, HALF_S + 15.0, 2 * HALF_S)
    assert median(expected / actual for expected, actual in at_once) < 0.6
    assert median(expected / actual for expected, actual in later) == pytest.approx(1.0, abs=0.15)


def test_forecasts_are_kept_in_the_order_of_the_answers_with_their_bounds() -> None:
    tally = drive()
    assert len(tally.predicted) == len(tally.ttft_s) == REQUESTS
    assert all(one.ttft_low_s <= one.ttft_s <= one.ttft_high_s for one in tally.predicted)
    ended_s = [one.at_s + total_s for one, total_s in zip(tally.predicted, tally.total_s, strict=True)]
    assert ended_s == pytest.approx(sorted(ended_s))


def test_forecasts_are_not_kept_unless_they_are_asked_for() -> None:
    assert drive(keeps_forecasts=False).predicted == []


def test_arrivals_end_before_the_last_answer() -> None:
    trial = Trial(policy="slo", seed=1, slo=SLO)
    got = report(run(pools(), workload(log(11, gap_s=0.5)), trial), trial)
    assert got.arrivals_s == pytest.approx(5.0)
    assert got.simulated_s > got.arrivals_s


def test_a_pool_that_is_not_there_cannot_become_slower() -> None:
    with pytest.raises(UnknownName, match='did you mean "only"'):
        drive(SpeedChange(at_s=1.0, pool="onyl", slowdown=2.0))
