"""A batch in virtual time."""

import pytest
from msgspec import structs

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.batches.pace import WAITING_MAX
from heterodyne.domain.errors import InvalidSpec
from heterodyne.simulator.batch import SimulatedBatch, SimulatedLines
from heterodyne.simulator.beside import batch_beside
from heterodyne.simulator.run import run
from heterodyne.simulator.trial import Trial
from heterodyne.simulator.workload import workload
from tests.support.simulations import SLO, log, pools

BATCH = SimulatedBatch(lines=400, groups=10, shared_tokens=256, own_tokens=32, output_tokens=16)
TRIAL = Trial(policy="slo", seed=1, slo=SLO, admission=AdmissionSettings(), batch=BATCH)


def test_every_line_is_answered_beside_the_traffic_and_what_lines_share_is_computed_once() -> None:
    traffic = workload(log(200))
    tally = run(pools(replicas=2), traffic, TRIAL)
    assert tally.batch is not None
    assert (len(tally.ttft_s), len(tally.batch.ended_at_s)) == (200, BATCH.lines)
    shareable = (BATCH.lines - BATCH.groups) * BATCH.shared_tokens
    assert tally.batch.cached_tokens > 0.8 * shareable
    assert tally.batch.lines_per_s(0.0, max(tally.batch.ended_at_s) + 1.0) > 0
    again = run(pools(replicas=2), traffic, TRIAL)
    assert again.batch is not None
    assert again.batch.ended_at_s == tally.batch.ended_at_s, "to the last bit"


def test_nothing_is_asked_before_it_comes_nor_after_its_time() -> None:
    bounds = structs.replace(BATCH, lines=100_000, at_s=0.5, until_s=1.0)
    tally = run(pools(), workload(log(300)), structs.replace(TRIAL, batch=bounds))
    assert tally.batch is not None
    assert 0 < len(tally.batch.ended_at_s) < bounds.lines
    assert min(tally.batch.ended_at_s) > bounds.at_s


def test_of_a_group_one_goes_first_and_each_result_lets_two_more_go() -> None:
    lines = SimulatedLines(structs.replace(BATCH, lines=16, groups=2), 16)
    first = [lines.try_next(0.0), lines.try_next(0.0)]
    assert first[0] is not None
    assert first[1] is not None
    assert lines.try_next(0.0) is None, "the others wait for a result"
    assert first[0].numbers[:16] != first[1].numbers[:16]
    lines.start(first[0], 0.0)
    lines.end(first[0], "p", 0, 1.0)
    second = [lines.try_next(1.0), lines.try_next(1.0)]
    assert all(one is not None and one.numbers[:16] == first[0].numbers[:16] for one in second)
    assert lines.try_next(1.0) is None


def test_few_wait_at_a_time() -> None:
    lines = SimulatedLines(structs.replace(BATCH, groups=400), 16)
    lines.waiting = WAITING_MAX
    assert lines.try_next(0.0) is None


def test_a_batch_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="groups"):
        structs.replace(BATCH, groups=0)
    with pytest.raises(InvalidSpec, match="admission"):
        run(pools(), workload(log(10)), structs.replace(TRIAL, admission=None))


def test_a_batch_beside_a_trace_is_held_against_what_the_trace_leaves() -> None:
    fleet, traffic = pools(), workload(log(80))
    endless = structs.replace(BATCH, lines=20_000)
    trial = structs.replace(TRIAL, batch=None, admission=None)
    found = batch_beside(fleet, traffic, trial, endless, capacity_rps=4 * traffic.requests / traffic.lap_s)
    assert found.load == pytest.approx(0.25)
    assert found.left_over_lines_per_s == pytest.approx((1 - found.load) * found.alone_lines_per_s)
    assert 0 < found.lines_per_s < found.alone_lines_per_s
    assert found.lines == pytest.approx(found.lines_per_s * traffic.lap_s, rel=0.01)
    assert found.attainment_with <= found.attainment_without == 1.0
    [only] = found.pools
    assert only.in_flight_mean > 1
    assert only.lines_per_s == pytest.approx(found.lines_per_s)
