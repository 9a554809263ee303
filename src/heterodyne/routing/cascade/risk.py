"""Up to which risk cheap answers are kept, so that a bound on the lost quality holds for traffic like the observed.

The bound is a share of the big model's quality. With q for qualities, a threshold t and "kept" for a risk up to t, one
request overdraws by

    (q_big - q_cheap) * kept - bound * q_big

and the bound holds where the mean of that is at most zero. Two ways to choose t from n observed requests:

`confident` is Learn-then-Test (Angelopoulos, Bates, Candès, Jordan, Lei 2021) with fixed-sequence testing: thresholds
are tried from the strictest on, each is tested for "its mean is above zero", and the last one before the first test
that fails is taken. Then the bound is broken with probability of at most 1 - confidence, whatever the distribution and
however badly risks rank answers. The test is the betting one of Waudby-Smith and Ramdas (2020): it adapts to the
variance, where Hoeffding's and Bentkus' bounds assume the worst and would keep nothing from a few hundred requests.
What the cheap model wins is counted against what it loses.

`on_average` is conformal risk control (Angelopoulos, Bates, Fisch, Lei, Schuster 2022): no confidence, the mean over
all calibrations is within the bound. It needs an overdraft that only grows with t, so what the cheap model wins does
not count, which keeps less where it often wins.
"""

import enum
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from heterodyne.routing.cascade.judges.doubt import UNUSABLE
from heterodyne.routing.cascade.regression import Floats

Flags = npt.NDArray[np.bool_]

STEPS: Final = 50  # thresholds that are tried
BET_SHARE_MAX: Final = 0.75  # of what may be lost on one request
ROWS_MIN: Final = 30  # below, nothing is learned


class BoundKind(enum.StrEnum):
    """What is promised of the bound."""

    CONFIDENT = "confident"
    ON_AVERAGE = "on_average"


class RiskBound(Struct, frozen=True, kw_only=True):
    """How much quality may be lost, as a share of the big model's, and how surely no more."""

    loss_share_max: float = 0.05
    confidence: float = 0.9
    kind: BoundKind = BoundKind.CONFIDENT


class RiskThreshold(Struct, frozen=True, kw_only=True):
    """Risks up to the threshold are kept; None keeps nothing."""

    threshold: float | None
    rows: int
    kept_share: float  # of the rows it was chosen on
    loss_share: float  # net, on the same rows: what was seen, not what is promised

    def keeps(self, risk: float) -> bool:
        return self.threshold is not None and risk <= self.threshold


def threshold_steps(risks: Floats) -> tuple[float, ...]:
    """Thresholds to try, from strict to lenient: quantiles of risks that are not those that the bound is tested on."""
    usable = risks[risks < UNUSABLE]
    if not len(usable):
        return ()
    return tuple(sorted({float(value) for value in np.quantile(usable, np.linspace(0, 1, STEPS + 1)[1:])}))


def calibrate(
    risks: Floats, cheap_quality: Floats, big_quality: Floats, bound: RiskBound, steps: Sequence[float]
) -> RiskThreshold:
    """The most lenient of the steps that the bound allows; rows must come in an order that means nothing."""
    chosen: float | None = None
    if len(risks) >= ROWS_MIN:
        for step in steps:
            if not _is_within(risks <= step, cheap_quality, big_quality, bound):
                break
            chosen = step
    kept = risks <= chosen if chosen is not None else np.zeros(len(risks), bool)
    return RiskThreshold(
        threshold=chosen,
        rows=len(risks),
        kept_share=float(kept.mean()) if len(kept) else 0.0,
        loss_share=loss_share(kept, cheap_quality, big_quality),
    )


def loss_share(kept: Flags, cheap_quality: Floats, big_quality: Floats) -> float:
    """What is lost where these answers are kept, as a share of the big model's quality; negative: gained."""
    whole = float(big_quality.sum())
    return float(((big_quality - cheap_quality) * kept).sum()) / whole if whole else 0.0


def _is_within(kept: Flags, cheap_quality: Floats, big_quality: Floats, bound: RiskBound) -> bool:
    lost = (big_quality - cheap_quality) * kept
    if bound.kind is BoundKind.ON_AVERAGE:
        overdrafts = np.maximum(lost, 0.0) - bound.loss_share_max * big_quality
        worst = 1 - bound.loss_share_max  # what the next request may add, of which nothing is known
        return float(overdrafts.sum()) + worst <= 0
    overdrafts = lost - bound.loss_share_max * big_quality
    level = 1 - bound.confidence
    return _p_value(overdrafts, least=-1.0, most=1 - bound.loss_share_max, level=level) <= level


def _p_value(values: Floats, *, least: float, most: float, level: float) -> float:
    """How far a mean above zero is refuted: one over the most that a bettor against it has held.

    Each request, a share of the capital is staked on its value being below zero. Were the mean zero or above, the
    capital could not be expected to grow, so it reaches 1 / p with probability of at most p (Ville's inequality). How
    much is staked depends on earlier requests alone.
    """
    width = most - least
    scaled, zero = (values - least) / width, -least / width
    places = np.arange(1, len(scaled) + 1)
    means = (0.5 + np.cumsum(scaled)) / (places + 1)
    variances = (0.25 + np.cumsum((scaled - means) ** 2)) / (places + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    stakes = np.sqrt(2 * math.log(1 / level) / (len(scaled) * before))
    stakes = np.minimum(stakes, BET_SHARE_MAX / (1 - zero))
    capital = np.cumsum(np.log1p(stakes * (zero - scaled)))
    return math.exp(-max(0.0, float(capital.max())))
