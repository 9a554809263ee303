"""Virtual time: the same machine, many steps at once."""

import pytest

from heterodyne.physics.replica.simulation import TokenGaps, gap_quantile, quantile, simulate_replica
from heterodyne.physics.step_time import prefill_s
from tests.support.physics import IDEAL, placement
from tests.support.replicas import job, machine, run_dry


def test_a_rehearsal_ends_when_single_steps_would() -> None:
    jobs = [(0.001 * number, job(number, prompt=40 + number, output=5 + number)) for number in range(20)]
    leaping = simulate_replica(machine(), jobs)
    walking = machine()
    for at_s, one in jobs:
        walking.submit(one, at_s)
    assert len(leaping.timings) == 20
    assert {one.job.id for one in leaping.timings} == {
        finished for _, ended in run_dry(walking) for finished in ended.finished
    }


def test_a_job_alone_waits_for_its_own_prompt() -> None:
    (timing,) = simulate_replica(machine(), [(5.0, job(1, prompt=100))]).timings
    assert timing.ttft_s == pytest.approx(prefill_s(placement(), IDEAL, tokens=100))


def test_gaps_count_every_token_after_the_first() -> None:
    seen = simulate_replica(machine(), [(0.0, job(1, output=10)), (0.0, job(2, output=10))])
    assert sum(gap.count for gap in seen.gaps) == 18


def test_quantiles_are_of_tokens_and_not_of_steps() -> None:
    gaps = [TokenGaps(at_s=0, gap_s=0.1, count=1), TokenGaps(at_s=0, gap_s=0.2, count=99)]
    assert gap_quantile(gaps, 0.5) == 0.2
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 3.0
