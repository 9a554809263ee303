"""How far measured times lie from predicted ones, and so what range a prediction has."""

from functools import cache
from math import exp, log
from statistics import NormalDist

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.split import Split

# The middle eighty of a hundred rows lie between the two outer quantiles of a spread.
OUTER_QUANTILE = 0.9
OUTER_DEVIATIONS = NormalDist().inv_cdf(OUTER_QUANTILE)
QUANTILES = (0.001, 0.999)  # beyond these a spread of some hundred rows says nothing


class Range(Struct, frozen=True, kw_only=True):
    """The middle eighty per cent."""

    low: float
    high: float


class Spread(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measured by predicted time at the tenth, the middle and the ninetieth of a hundred rows that no fit had seen."""

    low: float
    middle: float
    high: float

    def factor(self, quantile: float) -> float:
        """What a prediction is multiplied with so that this share of measured times is below it."""
        deviations = _deviations(quantile)
        side = self.low / self.middle if deviations < 0 else self.high / self.middle
        return self.middle * exp(abs(deviations) * log(side))

    def at(self, predicted: float, quantile: float) -> float:
        """The time that this share of measured ones stays below; 0.9 is a cautious one."""
        return predicted * self.factor(quantile)

    def range(self, predicted: float) -> Range:
        """The middle eighty per cent about a prediction."""
        return Range(low=predicted * self.low, high=predicted * self.high)


class Spreads(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The spreads of one kind of model under one split, and the rows they come from."""

    split: Split
    has_experts: bool
    rows: int
    groups: int
    itl: Spread
    ttft: Spread


@cache
def _deviations(quantile: float) -> float:
    """Normal deviations from the middle, in those of the outer quantile."""
    if not QUANTILES[0] <= quantile <= QUANTILES[1]:
        raise InvalidSpec(f"quantile: {quantile} is not between {QUANTILES[0]} and {QUANTILES[1]}; 0.5 is the middle")
    return NormalDist().inv_cdf(quantile) / OUTER_DEVIATIONS
