"""A rollout goes from stage to stage on evidence, ends once, and says what each step rests on."""

import msgspec
import pytest

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.rollout.evidence import Evidence, MetricSums, seen
from heterodyne.rollout.judge import Judgement, judge
from heterodyne.rollout.machine import (
    Rollout,
    RolloutStatus,
    aborted,
    begin,
    checked,
    failed,
    observed,
    paused,
    promoted,
    resumed,
    share_of,
    split_of,
)
from heterodyne.rollout.plan import StageKind


def begun() -> Rollout:
    return begin("r1", "m", baseline=("old",), candidate=("new",), now=1.0)


def evidence(count: int, *, errors: int = 0, ttft_s: float = 0.3) -> Evidence:
    """So many requests that all took as long."""
    one = seen({"errors": 0.0, "ttft": ttft_s})
    times = one.sums["ttft"]
    sums = {"errors": MetricSums(count, float(errors), float(errors))}
    sums["ttft"] = MetricSums(count, count * times.total, count * times.squares)
    return Evidence(requests=count, sums=sums)


def in_canary() -> Rollout:
    rollout = begun()
    for _ in range(2):
        rollout = checked(rollout, passed=True, why="", now=2.0)
    assert rollout.stage.kind is StageKind.CANARY
    return rollout


def test_users_see_a_candidate_when_it_has_passed_its_checks() -> None:
    rollout = begun()
    for kind in (StageKind.SMOKE, StageKind.PARITY):
        assert rollout.stage.kind is kind
        assert share_of(rollout) == 0.0
        rollout = checked(rollout, passed=True, why="", now=2.0)
    assert checked(rollout, passed=True, why="", now=3.0) == rollout, "a canary has no yes or no"
    assert share_of(rollout) == 0.01


def test_the_data_plane_is_told_the_share_and_that_of_the_stage_before() -> None:
    rollout, told = begun(), []
    while not rollout.is_ended:
        told.append(split_of(rollout))
        rollout = promoted(rollout, who="me", now=2.0)
    told.append(split_of(rollout))
    shares = [(one.share, one.share_before) for one in told]
    assert shares == [(0, 0), (0, 0), (0.01, 0), (0.05, 0.01), (0.25, 0.05), (0.5, 0.25), (1.0, 0.5)]
    assert {(one.rollout, one.candidate_pools) for one in told} == {("r1", ("new",))}
    assert split_of(aborted(in_canary(), who="me", now=3.0)).share == 0.0


@pytest.mark.parametrize("passes", range(2))
def test_a_check_that_fails_ends_it_before_any_user(passes: int) -> None:
    rollout = begun()
    for _ in range(passes):
        rollout = checked(rollout, passed=True, why="", now=2.0)
    rollout = checked(rollout, passed=False, why="prompt 3 answers otherwise", now=4.0)
    assert rollout.status is RolloutStatus.ROLLED_BACK
    assert (rollout.steps[-1].why, rollout.steps[-1].at) == ("prompt 3 answers otherwise", 4.0)
    assert share_of(rollout) == 0.0


def test_shares_grow_as_more_is_known_and_all_get_it_in_the_end() -> None:
    rollout, shares = in_canary(), []
    for _ in range(200):
        shares.append(share_of(rollout))
        rollout = observed(rollout, evidence(500), evidence(5000), 5.0)
        if rollout.is_ended:
            break
    assert rollout.status is RolloutStatus.COMPLETED
    assert list(dict.fromkeys(shares)) == [0.01, 0.05, 0.25, 0.5]
    assert share_of(rollout) == 1.0
    assert [step.what for step in rollout.steps][-1] == "completed"
    assert all(step.verdict is not None for step in rollout.steps if step.what == "passed" and "canary" in step.stage)


def test_a_breach_ends_it_with_what_was_worse() -> None:
    rollout = observed(in_canary(), evidence(400, errors=12), evidence(40_000, errors=10), 5.0)
    assert rollout.status is RolloutStatus.ROLLED_BACK
    assert rollout.steps[-1].why == "surely worse: errors"
    verdict = rollout.steps[-1].verdict
    assert verdict is not None
    assert {one.metric: one.candidate_count for one in verdict.metrics}["errors"] == 400
    assert observed(rollout, evidence(400), evidence(400), 6.0) == rollout, "it has ended"


def test_a_paused_one_stays_where_it_is_and_a_breach_still_ends_it() -> None:
    rollout = paused(in_canary(), who="me", now=4.0)
    more = observed(rollout, evidence(50_000), evidence(500_000), 5.0)
    assert (more.status, share_of(more)) == (RolloutStatus.PAUSED, 0.01)
    assert share_of(observed(resumed(more, who="me", now=6.0), Evidence(), Evidence(), 7.0)) == 0.05
    worse = observed(rollout, evidence(400, errors=40), evidence(40_000), 5.0)
    assert worse.status is RolloutStatus.ROLLED_BACK


def test_hands_are_named_and_an_end_is_an_end() -> None:
    rollout = aborted(in_canary(), who="operator x", now=9.0)
    assert (rollout.status, rollout.steps[-1].who, share_of(rollout)) == (RolloutStatus.ABORTED, "operator x", 0.0)
    for act in (paused, promoted, aborted):
        with pytest.raises(SettingsInvalid, match="has ended: aborted"):
            act(rollout, who="me", now=9.0)
    with pytest.raises(SettingsInvalid, match="not paused"):
        resumed(in_canary(), who="me", now=9.0)
    with pytest.raises(SettingsInvalid, match="old cannot be both"):
        begin("r", "m", baseline=("old", "x"), candidate=("old",), now=0.0)
    with pytest.raises(SettingsInvalid, match="a pool to go to and one to come from"):
        begin("r", "m", baseline=(), candidate=("new",), now=0.0)
    assert failed(in_canary(), "never ready", 5.0).status is RolloutStatus.ROLLED_BACK


def test_a_rollout_is_what_it_was_after_a_restart() -> None:
    rollout = observed(in_canary(), evidence(30), evidence(3000), 5.0)
    assert msgspec.json.decode(msgspec.json.encode(rollout), type=Rollout) == rollout


def test_a_metric_that_hardly_any_request_has_is_not_waited_for() -> None:
    rare = Evidence(requests=10, sums={"invalid_tool_calls": MetricSums(10, 0.0, 0.0)})
    verdict = judge(evidence(20_000), evidence(100_000).plus(rare))
    assert verdict.judgement is Judgement.ENOUGH
    common = Evidence(requests=50_000, sums={"invalid_tool_calls": MetricSums(50_000, 0.0, 0.0)})
    assert judge(evidence(20_000), evidence(100_000).plus(common)).judgement is Judgement.UNSURE


def test_nothing_is_said_of_nothing() -> None:
    assert judge(Evidence(), Evidence()).judgement is Judgement.UNSURE
    assert judge(evidence(1000), Evidence()).judgement is Judgement.UNSURE
