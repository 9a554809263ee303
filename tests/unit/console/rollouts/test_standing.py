"""Where a rollout stands is worked out by the server: stages, share, and each metric in figures that people read."""

import pytest

from heterodyne.console.rollouts.standing import StageMark, standing_of
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.rollout.evidence import Evidence, MetricSums
from heterodyne.rollout.judge import Judgement
from heterodyne.rollout.machine import aborted, observed, promoted
from heterodyne.rollout.metric import Kind
from tests.unit.rollout.test_machine import begun, evidence, in_canary


def test_the_stages_say_what_is_behind_where_it_is_and_what_is_ahead() -> None:
    shown = standing_of(in_canary())
    assert [(one.name, one.mark) for one in shown.stages] == [
        ("smoke", "passed"),
        ("parity", "passed"),
        ("canary 1 %", "current"),
        ("canary 5 %", "ahead"),
        ("canary 25 %", "ahead"),
        ("canary 50 %", "ahead"),
        ("full", "ahead"),
    ]
    assert (shown.stage, shown.share) == ("canary 1 %", 0.01)


def test_one_that_was_taken_back_stopped_where_it_was_and_a_complete_one_passed_all() -> None:
    back = standing_of(aborted(in_canary(), who="me", now=3.0))
    assert [one.mark for one in back.stages][:4] == ["passed", "passed", "stopped", "ahead"]
    assert back.share == 0.0
    done = in_canary()
    while not done.is_ended:
        done = promoted(done, who="me", now=3.0)
    assert {one.mark for one in standing_of(done).stages} == {StageMark.PASSED}
    assert standing_of(done).share == 1.0


def test_evidence_is_in_shares_with_the_lines_it_is_judged_by() -> None:
    rollout = observed(in_canary(), evidence(400, errors=12), evidence(40_000), 5.0)
    shown = {one.metric: one for one in standing_of(rollout).evidence}
    errors, ttft = shown["errors"], shown["ttft"]
    assert (errors.judgement, errors.kind, errors.breach, errors.tolerance) == (
        Judgement.BREACH,
        Kind.RATE,
        0.001,
        0.01,
    )
    assert errors.low is not None
    assert errors.high is not None
    assert errors.breach < errors.low < 0.03 < errors.high < 0.1
    assert (errors.candidate_count, errors.baseline_count) == (400, 40_000)
    assert (ttft.kind, ttft.breach, ttft.tolerance) == (Kind.RATIO, pytest.approx(0.03), pytest.approx(0.25))
    assert standing_of(rollout).judgement is Judgement.BREACH


def test_what_nobody_knows_yet_has_no_figure() -> None:
    [errors, ttft] = standing_of(observed(in_canary(), evidence(3), evidence(300), 5.0)).evidence
    assert (ttft.low, ttft.high, ttft.judgement) == (None, None, Judgement.UNSURE)
    assert errors.low is not None
    assert standing_of(begun()).evidence == ()
    few = Evidence(requests=3, sums={"length": MetricSums(3, 0.0, 0.0)})
    [length] = standing_of(observed(in_canary(), few, few, 5.0)).evidence
    assert (length.low, length.high) == (None, None), "that it differs by nothing at least says nothing"


def test_the_replicas_that_are_compared_are_those_of_this_rollout() -> None:
    rollout = in_canary()
    told = RolloutSplit(
        rollout=rollout.id,
        candidate_pools=("new",),
        baseline_pools=("old",),
        share=0.01,
        candidate_replicas=("new-0",),
        control_replicas=("old-3",),
    )
    shown = standing_of(rollout, told)
    assert (shown.candidate_replicas, shown.control_replicas) == (("new-0",), ("old-3",))
    another = RolloutSplit(
        rollout="r2", candidate_pools=(), baseline_pools=(), share=0.0, candidate_replicas=("new-1",)
    )
    assert standing_of(rollout, another).candidate_replicas == ()
