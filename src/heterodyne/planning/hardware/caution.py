"""How much slower than predicted a replica may be: a quantile of measured times by predictions that rest on as much."""

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.profile import ProfileMatch
from heterodyne.physics.split import Split
from heterodyne.physics.spread import QUANTILES
from heterodyne.physics.spread_catalogue import spreads_of

MIDDLE = 0.5
LOW, HIGH = 0.1, 0.9  # between which eighty in a hundred measured times lie


def slowdown_of(found: ProfileMatch, *, has_experts: bool, quantile: float | None) -> float:
    """Times that every step takes what is predicted; None: as it is predicted."""
    if quantile is None:
        return 1.0
    return spreads_of(found.split, has_experts=has_experts).itl.factor(quantile)


def calibrated_slowdown(quantile: float, *, has_experts: bool, middle: float) -> float:
    """What would be left of the range about its middle, had the operator measured his own replica."""
    itl = spreads_of(Split.CALIBRATED, has_experts=has_experts).itl
    return middle * itl.factor(quantile) / itl.factor(MIDDLE)


def check_quantile(quantile: float | None) -> None:
    """Raise `InvalidSpec` for one that no measurement says anything of."""
    if quantile is not None and not QUANTILES[0] <= quantile <= QUANTILES[1]:
        raise InvalidSpec(f"quantile: {quantile:g} is not between {QUANTILES[0]} and {QUANTILES[1]}; 0.9 is cautious.")
