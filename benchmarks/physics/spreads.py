"""The ranges of predictions: measured by predicted time of rows left out, and how many of others fall within them."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import Errors
from heterodyne.physics.split import Split
from heterodyne.physics.spread import Spread, Spreads

WANTED_SHARE = 0.8
# The outer quantiles are taken further out, within reason, where rows of parts left out would fall outside too often.
SHARES = tuple(round(WANTED_SHARE + step / 100, 2) for step in range(11))


class Coverage(Struct, frozen=True, kw_only=True):
    """Of rows whose part had no part in the spread: shares within it, below its middle, and below its upper end."""

    within: float
    below_middle: float
    below_high: float


class ScoredSpreads(Struct, frozen=True, kw_only=True):
    """Spreads as shipped, and what they cover."""

    spreads: Spreads
    itl: Coverage
    ttft: Coverage


class Residuals(Struct, frozen=True, kw_only=True):
    """Signed relative errors of rows left out, and the part each was left out with."""

    split: Split
    has_experts: bool
    itl: Errors
    ttft: Errors
    part_of: tuple[object, ...]
    groups: int


def scored_spreads(residuals: Residuals) -> ScoredSpreads:
    """Spreads of all rows, covered by spreads without each row's part."""
    itl, covers_itl = _covering(_logs(residuals.itl), residuals.part_of)
    timed = np.isfinite(residuals.ttft)
    parts = tuple(part for part, is_timed in zip(residuals.part_of, timed, strict=True) if is_timed)
    ttft, covers_ttft = _covering(_logs(residuals.ttft[timed]), parts)
    spreads = Spreads(
        split=residuals.split,
        has_experts=residuals.has_experts,
        rows=len(residuals.itl),
        groups=residuals.groups,
        itl=itl,
        ttft=ttft,
    )
    return ScoredSpreads(spreads=spreads, itl=covers_itl, ttft=covers_ttft)


def _covering(logs: Errors, part_of: Sequence[object]) -> tuple[Spread, Coverage]:
    """The narrowest spread that covers enough of the rows of parts it has not seen."""
    for share in SHARES:
        coverage = _coverage(logs, part_of, share)
        if coverage.within >= WANTED_SHARE - 0.005:
            break
    low, middle, high = np.exp(_quantiles(logs, share))
    spread = Spread(low=_short(low), middle=_short(middle), high=_short(high))
    return spread, coverage


def _coverage(logs: Errors, part_of: Sequence[object], share: float) -> Coverage:
    parts = np.array([hash(part) for part in part_of])
    within, middle, high = (np.zeros(len(logs), dtype=bool) for _ in range(3))
    for part in set(parts):
        mine = parts == part
        if mine.all():
            continue
        lower, centre, upper = _quantiles(logs[~mine], share)
        within[mine] = (logs[mine] >= lower) & (logs[mine] <= upper)
        middle[mine] = logs[mine] <= centre
        high[mine] = logs[mine] <= upper
    return Coverage(within=float(within.mean()), below_middle=float(middle.mean()), below_high=float(high.mean()))


def _quantiles(logs: Errors, share: float) -> Errors:
    return np.quantile(logs, [(1 - share) / 2, 0.5, (1 + share) / 2])


def _logs(errors: Errors) -> Errors:
    """Measured by predicted, as a logarithm."""
    return -np.log1p(errors)


def _short(value: float) -> float:
    return float(f"{value:.3g}")
