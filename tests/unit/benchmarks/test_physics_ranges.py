"""Ranges of predictions whose parts (models, versions, chips) are each off by a share that its rows have in common."""

import numpy as np
import pytest

from benchmarks.physics.spreads import Residuals, ScoredSpreads, scored_spreads
from heterodyne.physics.split import Split

ROWS = 40


def _scored(biases: list[float], *, within: float = 0.1) -> ScoredSpreads:
    """Rows of one part for each bias; biases and what rows differ by are logarithms of measured by predicted."""
    chance = np.random.default_rng(7)
    logs = np.concatenate([bias + within * chance.standard_normal(ROWS) for bias in biases])
    errors = np.exp(-logs) - 1
    return scored_spreads(
        Residuals(
            split=Split.MODEL,
            has_experts=False,
            itl=errors,
            ttft=errors,
            part_of=tuple(f"part {index // ROWS}" for index in range(len(logs))),
            groups=len(biases),
        )
    )


def test_ranges_hold_about_as_many_rows_of_parts_left_out_as_they_promise() -> None:
    biases = [float(bias) for bias in np.random.default_rng(5).normal(0.0, 0.5, size=30)]
    assert _scored(biases).itl.within == pytest.approx(0.8, abs=0.05)


def test_the_less_parts_agree_the_wider_the_range_is_beyond_the_quantiles_of_their_rows() -> None:
    alike, apart = _scored([0.0, 0.0, 0.0, 0.0]), _scored([-0.6, -0.2, 0.2, 0.6])
    assert alike.spreads.itl.low == pytest.approx(np.exp(-0.128), abs=0.04)
    assert alike.spreads.itl.high == pytest.approx(np.exp(0.128), abs=0.04)
    assert apart.spreads.itl.low < np.exp(-0.6 - 0.128)
    assert apart.spreads.itl.high > np.exp(0.6 + 0.128)


def test_a_part_has_no_say_in_the_range_that_scores_it() -> None:
    near, far = _scored([0.0, 0.1, -0.1, 1.0]), _scored([0.0, 0.1, -0.1, 9.0])
    assert near.itl_of["part 3"].within == far.itl_of["part 3"].within == 0.0
    assert near.itl_of["part 3"].rows == ROWS


def test_one_part_alone_has_the_quantiles_of_its_rows_and_no_score() -> None:
    alone = _scored([0.3])
    assert alone.itl_of == {}
    assert alone.spreads.itl.low < np.exp(0.3) < alone.spreads.itl.high
