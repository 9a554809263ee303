"""The ranges of predictions: measured by predicted time of rows left out, and how many of others fall within them.

Rows that were left out together (a model, a version, a chip) are off by a part that they share, so the rows of the
others say too little of how far the next such part may lie. How much too little is measured in the same way: each part
is left out of the range in turn, and what it takes to hold the wanted share of all those rows is added to both ends
(split conformal intervals, with parts for folds). What a part is scored by is made without it, the addition included.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import Errors
from heterodyne.physics.split import Split
from heterodyne.physics.spread import Spread, Spreads

WANTED_SHARE = 0.8
QUANTILES = ((1 - WANTED_SHARE) / 2, 0.5, (1 + WANTED_SHARE) / 2)

Bounds = tuple[float, float, float]  # low, middle, high; logarithms


class Coverage(Struct, frozen=True, kw_only=True):
    """Of rows whose part had no part in the spread: shares within it, below its middle, and below its upper end."""

    rows: int
    within: float
    below_middle: float
    below_high: float


class ScoredSpreads(Struct, frozen=True, kw_only=True):
    """Spreads as shipped, and what they cover; by part what they cover of it."""

    spreads: Spreads
    itl: Coverage
    ttft: Coverage
    itl_of: dict[str, Coverage]
    ttft_of: dict[str, Coverage]
    as_named: float | None = None  # share of rows that what the split names answers for; None: not asked
    made_of: Split | None = None  # the split whose spreads these are; None: its own


class Residuals(Struct, frozen=True, kw_only=True):
    """Signed relative errors of rows left out, and the part each was left out with."""

    split: Split
    has_experts: bool
    itl: Errors
    ttft: Errors
    part_of: tuple[object, ...]
    groups: int
    as_named: float | None = None


def scored_spreads(residuals: Residuals) -> ScoredSpreads:
    """Spreads of all rows, covered by spreads without each row's part."""
    itl, ttft = (_by_part(errors, residuals.part_of) for errors in (residuals.itl, residuals.ttft))
    itl_of, ttft_of = (_coverage(parts) for parts in (itl, ttft))
    return ScoredSpreads(
        spreads=Spreads(
            split=residuals.split,
            has_experts=residuals.has_experts,
            rows=len(residuals.itl),
            groups=residuals.groups,
            itl=_spread(itl),
            ttft=_spread(ttft),
        ),
        itl=_together(itl_of),
        ttft=_together(ttft_of),
        itl_of=itl_of,
        ttft_of=ttft_of,
        as_named=residuals.as_named,
    )


def _by_part(errors: Errors, part_of: Sequence[object]) -> dict[str, Errors]:
    """Measured by predicted, as logarithms, of the rows that were timed."""
    parts: dict[str, list[float]] = defaultdict(list)
    for part, log in zip(part_of, -np.log1p(errors), strict=True):
        if np.isfinite(log):
            parts[part_name(part)].append(log)
    return {part: np.array(parts[part]) for part in sorted(parts)}


def part_name(part: object) -> str:
    """A part as a table names it."""
    return " ".join(str(one) or "no version" for one in part) if isinstance(part, tuple) else str(part)


def _coverage(parts: dict[str, Errors]) -> dict[str, Coverage]:
    found = {}
    for part, mine in parts.items():
        others = [logs for other, logs in parts.items() if other != part]
        if others:
            low, middle, high = _bounds(others)
            found[part] = Coverage(
                rows=len(mine),
                within=float(((mine >= low) & (mine <= high)).mean()),
                below_middle=float((mine <= middle).mean()),
                below_high=float((mine <= high).mean()),
            )
    return found


def _together(parts: dict[str, Coverage]) -> Coverage:
    """Over all rows."""
    rows = sum(part.rows for part in parts.values())

    def share(name: str) -> float:
        return sum(getattr(part, name) * part.rows for part in parts.values()) / rows if rows else math.nan

    return Coverage(
        rows=rows, within=share("within"), below_middle=share("below_middle"), below_high=share("below_high")
    )


def _spread(parts: dict[str, Errors]) -> Spread:
    low, middle, high = (float(f"{value:.3g}") for value in np.exp(_bounds([*parts.values()])))
    return Spread(low=low, middle=middle, high=high)


def _bounds(parts: Sequence[Errors]) -> Bounds:
    """For rows of a part that is none of these. One part says nothing of how parts differ: its rows' own quantiles."""
    low, middle, high = _quantiles(parts)
    if len(parts) == 1:
        return low, middle, high
    beyond = float(np.quantile(np.concatenate([_beyond(parts, index) for index in range(len(parts))]), WANTED_SHARE))
    return min(low - beyond, middle), middle, max(high + beyond, middle)


def _beyond(parts: Sequence[Errors], left_out: int) -> Errors:
    """How far outside the quantiles of the others each row of this part lies; within them it is below zero."""
    low, _, high = _quantiles([logs for index, logs in enumerate(parts) if index != left_out])
    return np.maximum(low - parts[left_out], parts[left_out] - high)


def _quantiles(parts: Sequence[Errors]) -> Bounds:
    low, middle, high = (float(value) for value in np.quantile(np.concatenate(parts), QUANTILES))
    return low, middle, high
