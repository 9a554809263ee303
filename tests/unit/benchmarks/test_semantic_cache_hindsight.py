"""What a clairvoyant would have served, and intervals of shares."""

import numpy as np
import pytest

from benchmarks.semantic_cache.hindsight import clairvoyant_hits, clairvoyant_hits_per_hit, interval

SCORES = np.array([0.9, 0.8, 0.8, 0.5, -np.inf])
IS_SAME = np.array([True, True, False, True, True])


@pytest.mark.parametrize(("wrong_max", "hits"), [(0, 1), (1, 4)])
def test_a_threshold_does_not_split_equal_scores_and_never_serves_what_is_forbidden(wrong_max: int, hits: int):
    assert clairvoyant_hits(SCORES, IS_SAME, wrong_max) == hits


def test_per_hit_the_longest_row_that_is_good_enough_counts():
    assert clairvoyant_hits_per_hit(SCORES, IS_SAME, 0.25) == 4
    assert clairvoyant_hits_per_hit(SCORES, IS_SAME, 0.2) == 2


def test_intervals_are_those_of_the_books():
    assert interval(0, 300) == pytest.approx((0.0, 0.01222), abs=1e-5)
    assert interval(5, 10) == pytest.approx((0.18709, 0.81291), abs=1e-5)
    assert interval(10, 10) == pytest.approx((0.69150, 1.0), abs=1e-5)
