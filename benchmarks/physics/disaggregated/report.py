"""What prices of aggregated serving make of the rows with prompts apart, and what a fit on those rows adds."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    FOLDS,
    Errors,
    Score,
    fit,
    fit_first,
    folds,
    score,
    tpot_errors,
    transferred,
)
from benchmarks.physics.disaggregated.rows import SplitPoint
from benchmarks.physics.disaggregated.split_pools import split_times
from benchmarks.physics.groups import teachers
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.prices import DATASHEET, Prices
from heterodyne.physics.profile import FirstToken


class SplitGroup(Struct, frozen=True, kw_only=True):
    """One (hardware, engine, precision), dense and mixture models apart."""

    system: str
    engine: str
    precision: str
    has_experts: bool
    models: tuple[str, ...]
    points: int
    rests_on: str  # what prices the aggregated rows give
    fitted_points: int
    tpot: Score  # from those prices, nothing of the row known
    tpot_filled: Score  # how full the decode replicas are is known
    ttft: Score
    tpot_across: Score | None  # cross-validated; None: too few points
    ttft_across: Score | None


class SplitReport(Struct, frozen=True, kw_only=True):
    """Everything the section says."""

    rows: dict[str, int]
    groups: tuple[SplitGroup, ...]
    tpot: Score  # of all points
    tpot_filled: Score
    ttft: Score


class Known(Struct, frozen=True, kw_only=True):
    """Prices from aggregated rows and what they rest on."""

    basis: str
    points: int
    prices: Prices
    first: FirstToken


def split_report(points: Sequence[SplitPoint], notes: Counter[str], aggregated: Sequence[Point]) -> SplitReport:
    """Score every group; none of its rows is among the aggregated ones."""
    by_group: dict[tuple[bool, str, str, str], list[SplitPoint]] = defaultdict(list)
    for point in points:
        by_group[(point.has_experts, *point.group)].append(point)
    groups, errors = [], []
    for _, mine in sorted(by_group.items()):
        group, found = _group(mine, _known(mine[0], teachers(aggregated)))
        groups.append(group)
        errors.append(found)
    tpot, filled, ttft = (score(np.concatenate(parts)) for parts in zip(*errors, strict=True))
    return SplitReport(
        rows=dict(notes) | {"kept: points": len(points)},
        groups=tuple(groups),
        tpot=tpot,
        tpot_filled=filled,
        ttft=ttft,
    )


def _known(point: SplitPoint, aggregated: Sequence[Point]) -> Known:
    kin = [one for one in aggregated if (one.engine, one.has_experts) == (point.engine, point.has_experts)]
    same = [one for one in kin if one.group == point.group]
    if same:
        prices = fit(same)
        return Known(basis="group", points=len(same), prices=prices, first=fit_first(same, prices))
    if kin:
        prices = transferred(kin)
        return Known(basis="family", points=len(kin), prices=prices, first=fit_first(kin, prices))
    return Known(basis="datasheet", points=0, prices=DATASHEET, first=FirstToken())


def _group(mine: list[SplitPoint], known: Known) -> tuple[SplitGroup, tuple[Errors, Errors, Errors]]:
    tpot, ttft = _errors(mine, known.prices, known.first)
    filled = tpot_errors(known.prices, mine)
    across = _across(mine, known) if len(mine) >= CALIBRATION_POINTS else None
    first = mine[0]
    group = SplitGroup(
        system=first.system,
        engine=first.engine,
        precision=first.precision.value,
        has_experts=first.has_experts,
        models=tuple(sorted({point.model for point in mine})),
        points=len(mine),
        rests_on=known.basis,
        fitted_points=known.points,
        tpot=score(tpot),
        tpot_filled=score(filled),
        ttft=score(ttft),
        tpot_across=score(across[0]) if across else None,
        ttft_across=score(across[1]) if across else None,
    )
    return group, (tpot, filled, ttft)


def _errors(points: Sequence[SplitPoint], prices: Prices, first: FirstToken) -> tuple[Errors, Errors]:
    times = [split_times(point, prices, first) for point in points]
    return (
        np.array([time.tpot_s / point.tpot_s - 1 for time, point in zip(times, points, strict=True)]),
        np.array([time.ttft_s / point.ttft_s - 1 for time, point in zip(times, points, strict=True)]),
    )


def _across(mine: Sequence[SplitPoint], known: Known) -> tuple[Errors, Errors]:
    """Each fold from a fit on the others, held towards the aggregated prices; scored with nothing of the row known."""
    fold = folds(mine)
    tpot, ttft = np.zeros(len(mine)), np.zeros(len(mine))
    for number in range(FOLDS):
        held = [index for index, part in enumerate(fold) if part == number]
        prices = fit([point for point, part in zip(mine, fold, strict=True) if part != number], prior=known.prices)
        tpot[held], ttft[held] = _errors([mine[index] for index in held], prices, known.first)
    return tpot, ttft
