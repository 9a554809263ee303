"""Quality by share of big calls."""

import numpy as np
import pytest

from heterodyne.routing.cascade.curve import quality_curve

CHEAP, BIG = np.array([1.0, 1, 0, 0]), np.array([1.0, 1, 1, 1])


def test_good_risks_recover_the_gap_early_and_bad_ones_late() -> None:
    good = quality_curve(np.array([0.1, 0.2, 0.8, 0.9]), CHEAP, BIG)
    assert good.quality.tolist() == [0.5, 0.75, 1, 1, 1]
    assert (good.big_share_at(1.0), good.big_share_at(0.5), good.quality_at(0.25)) == (0.5, 0, 0.75)
    assert good.gap_recovered == pytest.approx(0.7)
    bad = quality_curve(np.array([0.9, 0.8, 0.2, 0.1]), CHEAP, BIG)
    assert (bad.big_share_at(1.0), bad.gap_recovered) == (1.0, pytest.approx(0.3))
    assert bad.big_share_by_chance(0.75) == pytest.approx(0.5)


def test_models_that_are_alike_have_no_gap() -> None:
    same = quality_curve(np.array([0.5, 0.5]), np.ones(2), np.ones(2))
    assert (same.gap_recovered, same.big_share_at(1.0), same.big_share_by_chance(1.0)) == (0, 0, 0)
