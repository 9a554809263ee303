"""What is left of a start: for one in time what is left of the usual, for one that is late a little more."""

from math import exp
from random import Random

import pytest

from heterodyne.domain.start_time import StartTime

USUAL = StartTime(usual_s=120.0, spread=0.1)


def test_before_it_is_late_what_is_left_is_what_is_left_of_the_usual() -> None:
    assert USUAL.left_s(0.0) == 120.0
    assert USUAL.left_s(-5.0) == 125.0, "one that is asked for in a moment"
    assert USUAL.left_s(60.0) == pytest.approx(60.0, rel=0.03)


def test_one_that_is_late_is_there_soon_and_never_was_there_already() -> None:
    left = [USUAL.left_s(passed_s) for passed_s in (120.0, 140.0, 180.0, 1200.0)]
    assert left[0] == pytest.approx(120.0 * 0.1, rel=0.1)
    assert all(one > 0 for one in left)
    assert left[1] < left[0]


def test_one_that_is_known_less_well_is_awaited_longer_when_it_is_late() -> None:
    assert StartTime(usual_s=120.0, spread=0.4).left_s(150.0) > 2 * USUAL.left_s(150.0)
    assert StartTime(usual_s=120.0, spread=0.0).left_s(60.0) == pytest.approx(60.0, rel=0.01)


@pytest.mark.parametrize("passed_s", [0.0, 60.0, 100.0, 130.0])
def test_no_other_wait_is_right_within_a_tenth_more_often(passed_s: float) -> None:
    chance = Random(7)
    drawn = [120.0 * exp(chance.gauss(0.0, 0.1)) - passed_s for _ in range(40_000)]
    left = [one for one in drawn if one > 0]

    def right(told_s: float) -> int:
        return sum(abs(one - told_s) <= 0.1 * told_s for one in left)

    told_s = USUAL.left_s(passed_s)
    assert all(right(told_s) > 0.9 * right(told_s * times) for times in (0.6, 0.8, 0.9, 1.1, 1.2, 1.5))
