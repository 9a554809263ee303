"""Bounds hold at every moment at once, and grow narrow with what is known."""

import numpy as np
import pytest

from heterodyne.rollout.bounds import UNKNOWN, Bounds, mean_bounds, rate_bounds

ALPHA = 0.05
RUNS, LENGTH = 100, 1000
LOOKS = [*range(1, 50), *range(50, LENGTH, 25)]


@pytest.mark.parametrize("rate", [0.002, 0.05, 0.5, 0.99])
def test_a_rate_is_within_its_bounds_all_the_time(rate: float) -> None:
    rng, missed = np.random.default_rng(3), 0
    for _ in range(RUNS):
        hits = np.cumsum(rng.random(LENGTH) < rate)
        found = (rate_bounds(count, int(hits[count - 1]), ALPHA) for count in LOOKS)
        missed += not all(one.low <= rate <= one.high for one in found)
    assert missed <= RUNS * ALPHA


def test_a_mean_is_within_its_bounds_all_the_time() -> None:
    rng, missed = np.random.default_rng(4), 0
    for _ in range(RUNS):
        values = rng.gamma(2.0, 0.5, LENGTH)  # skewed, with a mean of one
        totals, squares = np.cumsum(values), np.cumsum(values**2)
        found = (mean_bounds(count, float(totals[count - 1]), float(squares[count - 1]), ALPHA) for count in LOOKS)
        missed += not all(one.low <= 1.0 <= one.high for one in found)
    assert missed <= RUNS * ALPHA


def test_an_interval_of_a_fixed_size_would_not_hold() -> None:
    """The test can tell: looked at all the time, the textbook's interval misses far more often than it says."""
    rng, missed = np.random.default_rng(5), 0
    for _ in range(RUNS):
        values = rng.standard_normal(LENGTH)
        means = np.cumsum(values) / np.arange(1, LENGTH + 1)
        missed += any(abs(means[count - 1]) > 1.96 / count**0.5 for count in LOOKS)
    assert missed > 3 * RUNS * ALPHA


def test_more_is_known_of_more() -> None:
    widths = [rate_bounds(count, count // 50, ALPHA) for count in (100, 1000, 10_000)]
    assert [one.high - one.low for one in widths] == sorted((one.high - one.low for one in widths), reverse=True)
    assert widths[-1].low < 0.02 < widths[-1].high < 0.03
    assert rate_bounds(0, 0, ALPHA) == Bounds(0.0, 1.0)
    assert rate_bounds(1000, 0, ALPHA).low == 0.0
    assert rate_bounds(1000, 1000, ALPHA).high == 1.0
    assert mean_bounds(10, 10.0, 12.0, ALPHA) == UNKNOWN
    same = mean_bounds(1000, 1000.0, 1000.0, ALPHA)
    assert (same.low, same.high) == (1.0, 1.0)
