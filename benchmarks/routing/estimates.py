"""Means over seeds, how sure they are, and who is ahead of whom."""

from collections.abc import Sequence
from statistics import fmean, stdev

from msgspec import Struct

# Student's t for 95 % of both sides, by the number of seeds.
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


class Estimate(Struct, frozen=True):
    """A mean and half the width of its 95 % confidence interval."""

    mean: float
    half: float  # 0 where there is one seed


def estimate(values: Sequence[float]) -> Estimate:
    """Over seeds."""
    if len(values) < 2:
        return Estimate(fmean(values), 0.0)
    return Estimate(fmean(values), T_95[len(values)] * stdev(values) / len(values) ** 0.5)


def is_surely_less(less: Sequence[float], more: Sequence[float]) -> bool:
    """Whether the difference, seed by seed, is above zero with its whole confidence interval.

    Seeds differ far more from each other than policies do on one seed, and all policies get the same ones.
    """
    gap = estimate([b - a for a, b in zip(less, more, strict=True)])
    return gap.mean > 0 and gap.mean - gap.half > 0
