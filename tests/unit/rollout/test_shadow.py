"""Copies of users' requests: what they say of a candidate, and what follows."""

import pytest

from heterodyne.rollout.evidence import Evidence
from heterodyne.rollout.judge import Judgement
from heterodyne.rollout.machine import (
    DEFAULT_PLAN,
    Rollout,
    RolloutStatus,
    begin,
    checked,
    observed,
    paused,
    shadowed,
    share_of,
    split_of,
)
from heterodyne.rollout.plan import StageKind
from heterodyne.rollout.shadow import (
    NO_COPIES,
    ShadowAnswer,
    ShadowSeen,
    compared,
    judge_copies,
    mean_likeness,
    times_as_long,
)


def said(words: int, word: str = "yes") -> ShadowAnswer:
    return ShadowAnswer(text=" ".join([word] * words), tokens=words)


def copies(count: int, *, failures: int = 0, longer: float = 1.0) -> ShadowSeen:
    found = NO_COPIES
    for number in range(count):
        length = 40 + number % 20
        answer = None if number < failures else said(int(length * longer))
        found = found.plus(compared(said(length), answer))
    return found


def in_shadow(count: int = 50) -> Rollout:
    rollout = begin("r", "m", baseline=("old",), candidate=("new",), plan=DEFAULT_PLAN.with_shadow(count), now=1.0)
    for _ in range(2):
        rollout = checked(rollout, passed=True, why="", now=2.0)
    assert rollout.stage.kind is StageKind.SHADOW
    return rollout


def test_two_answers_are_compared_by_length_and_by_how_they_begin() -> None:
    seen = compared(
        ShadowAnswer(text="the sky is blue", tokens=4), ShadowAnswer(text="the sky is grey and wet today now", tokens=9)
    )
    assert (seen.copies, seen.failures) == (1, 0)
    assert times_as_long(seen) == pytest.approx(2.0)
    assert mean_likeness(seen) == pytest.approx(3 / 8)
    assert mean_likeness(compared(said(0), said(0))) == 1.0


def test_sums_add_up_and_come_apart_again() -> None:
    one, other = copies(10, failures=2), copies(7, longer=1.5)
    assert one.plus(other).minus(one).copies == other.copies
    assert one.plus(other).failures == 2


@pytest.mark.parametrize(
    ("seen", "judgement"),
    [
        (copies(49), Judgement.UNSURE),
        (copies(50), Judgement.ENOUGH),
        (copies(50, failures=1), Judgement.ENOUGH),
        (copies(50, failures=15), Judgement.BREACH),
        (copies(60, longer=0.5), Judgement.BREACH),
        (copies(60, longer=2.0), Judgement.BREACH),
        (copies(60, longer=1.05), Judgement.ENOUGH),
    ],
)
def test_what_follows(seen: ShadowSeen, judgement: Judgement) -> None:
    assert judge_copies(seen, 50)[0] is judgement


def test_no_user_sees_the_candidate_while_copies_are_compared() -> None:
    rollout = in_shadow()
    assert share_of(rollout) == 0.0
    assert split_of(rollout).copies_per_s > 0
    assert observed(rollout, Evidence(), Evidence(), 3.0) == rollout
    rollout = shadowed(rollout, copies(30), 3.0)
    assert rollout.stage.kind is StageKind.SHADOW
    rollout = shadowed(rollout, copies(30), 4.0)
    assert rollout.stage.name == "canary 1 %"
    assert rollout.steps[-2].why == "60 copies: 0 failed, answers 1.00 times as long, 100% of the words alike"
    assert split_of(rollout).copies_per_s == 0.0
    assert shadowed(rollout, copies(30), 5.0) == rollout


def test_a_candidate_that_fails_copies_is_taken_back_before_any_user() -> None:
    rollout = shadowed(in_shadow(), copies(40, failures=20), 3.0)
    assert rollout.status is RolloutStatus.ROLLED_BACK
    assert rollout.steps[-1].why == "of 40 copies it failed 20 that the baseline answered"
    assert split_of(rollout).copies_per_s == 0.0


def test_one_that_is_paused_stays_and_is_still_taken_back() -> None:
    rollout = paused(in_shadow(), who="me", now=3.0)
    assert shadowed(rollout, copies(60), 4.0).stage.kind is StageKind.SHADOW
    assert shadowed(rollout, copies(40, failures=20), 4.0).status is RolloutStatus.ROLLED_BACK


def test_a_plan_without_copies_is_as_it_was() -> None:
    assert DEFAULT_PLAN.with_shadow(0) == DEFAULT_PLAN
