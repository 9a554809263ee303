"""Pure: bounds that hold at every moment at once, however often somebody looks.

A confidence interval of a fixed size is right with its probability when it is looked at once; looked at after every
request it is wrong sooner or later. Confidence sequences cost a little width and may be looked at always:

- rates: the mixture of binomials under a Beta prior (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021), exact;
- means: the asymptotic sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024, theorem 2.2), from a few
  dozen values on.
"""

import math
from typing import Final

from msgspec import Struct

PRIOR: Final = 0.5  # of both sides of the Beta: sharp for rates near nothing and near all
TIGHTEST_AT: Final = 400.0  # values at which the sequence of means is as narrow as it can be
VALUES_MIN: Final = 40  # from here on a mean is near enough to normal
HALVINGS: Final = 50
NOTHING_KNOWN: Final = 1e9  # further off than anything can be; JSON has no infinity


class Bounds(Struct, frozen=True):
    """Where a number lies, at every moment with the same probability."""

    low: float
    high: float

    def minus(self, other: "Bounds") -> "Bounds":
        """Of a difference, where both hold."""
        return Bounds(self.low - other.high, self.high - other.low)


UNKNOWN: Final = Bounds(-NOTHING_KNOWN, NOTHING_KNOWN)


def rate_bounds(count: int, hits: int, alpha: float) -> Bounds:
    """Of the share of `hits`, outside of which it is at any time with a probability of `alpha` at most."""
    if not count:
        return Bounds(0.0, 1.0)
    misses = count - hits
    threshold = math.log(1 / alpha) - (_log_beta(hits + PRIOR, misses + PRIOR) - _log_beta(PRIOR, PRIOR))
    likeliest = hits / count
    low = _edge(0.0, likeliest, hits, misses, threshold) if hits else 0.0
    high = _edge(1.0, likeliest, hits, misses, threshold) if misses else 1.0
    return Bounds(low, high)


def mean_bounds(count: int, total: float, squares: float, alpha: float) -> Bounds:
    """Of the mean of `count` values that add up to `total`, and their squares to `squares`."""
    if count < VALUES_MIN:
        return UNKNOWN
    mean = total / count
    variance = max(0.0, squares / count - mean * mean) * count / (count - 1)
    tuned = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / TIGHTEST_AT
    spent = count * tuned + 1
    half = math.sqrt(variance * 2 * spent / (count * count * tuned) * math.log(math.sqrt(spent) / alpha))
    return Bounds(mean - half, mean + half)


def _edge(outer: float, inner: float, hits: int, misses: int, threshold: float) -> float:
    """Where the evidence against a rate, nothing at `inner`, reaches the threshold on the way to `outer`."""
    for _ in range(HALVINGS):
        middle = (outer + inner) / 2
        against = -(hits * math.log(middle) if hits else 0.0) - (misses * math.log1p(-middle) if misses else 0.0)
        if against > threshold:
            outer = middle
        else:
            inner = middle
    return outer


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
