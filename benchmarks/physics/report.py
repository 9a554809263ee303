"""All the questions `make bench-physics` answers, asked of the measured points, and the answers as values."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    Score,
    calibrated,
    cross_validated,
    score,
    tpot_errors,
    transferred,
    within_sigmas,
)
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.prices import DATASHEET

UNCOUNTED_POINTS = 10


class Group(Struct, frozen=True, kw_only=True):
    """One (hardware, engine, precision), dense and mixture models apart."""

    system: str
    engine: str
    precision: str
    has_experts: bool
    models: tuple[str, ...]
    points: int
    tpot: Score | None  # None: too few points to count
    tpot_uncounted: Score | None  # of a group too small to count, where folds can be made at all
    tpot_filtered: Score | None
    ttft: Score | None
    unseen: Score  # every point of this chip left out of the fit
    is_engine_seen: bool  # other chips under this engine were there to fit
    calibrated: Score | None  # the same after sixteen points


class Chip(Struct, frozen=True, kw_only=True):
    """A chip left out entirely: all its points under engines that other chips have too."""

    system: str
    has_experts: bool
    tpot: Score


class Summary(Struct, frozen=True, kw_only=True):
    """The numbers the targets speak of, in percent; None when no group has one."""

    cross_validated_median: float
    cross_validated_worst: float
    left_out_median: float
    left_out_worst: float
    calibrated_median: float
    ttft_median: float


class Report(Struct, frozen=True, kw_only=True):
    """Everything, for the page and for `--json`."""

    rows: dict[str, int]
    groups: tuple[Group, ...]
    chips: tuple[Chip, ...]
    dense: Summary
    mixture: Summary
    evaluation_us: float
    placement_us: float
    sweep_ms: float


def groups_of(points: Sequence[Point]) -> dict[tuple[bool, str, str, str], list[Point]]:
    """Points by kind of model, hardware, engine and precision."""
    groups: dict[tuple[bool, str, str, str], list[Point]] = defaultdict(list)
    for point in points:
        groups[(point.has_experts, *point.group)].append(point)
    return dict(sorted(groups.items()))


def teachers(points: Sequence[Point]) -> list[Point]:
    """Points of groups too small to check themselves are not taught to others either."""
    return [point for group in groups_of(points).values() if len(group) >= CALIBRATION_POINTS for point in group]


def report(points: Sequence[Point], notes: Counter[str], *, costs: tuple[float, float, float]) -> Report:
    """Ask every question."""
    groups = groups_of(points)
    known = teachers(points)
    rows = tuple(_group(key, mine, known) for key, mine in groups.items())
    chips = tuple(
        chip
        for has_experts in (False, True)
        for system in sorted({point.system for point in known})
        if (chip := _chip(system, has_experts, known)) is not None
    )
    evaluation_us, placement_us, sweep_ms = costs
    return Report(
        rows=dict(notes) | {"kept: points, small groups among them": len(points)},
        groups=rows,
        chips=chips,
        dense=_summary(rows, chips, has_experts=False),
        mixture=_summary(rows, chips, has_experts=True),
        evaluation_us=evaluation_us,
        placement_us=placement_us,
        sweep_ms=sweep_ms,
    )


def _group(key: tuple[bool, str, str, str], points: list[Point], known: Sequence[Point]) -> Group:
    has_experts, system, engine, precision = key
    others = _others(system, has_experts, engine, known)
    prior = transferred(others) if others else DATASHEET
    enough = len(points) >= CALIBRATION_POINTS
    prediction = cross_validated(points) if enough else None
    uncounted = cross_validated(points) if not enough and len(points) >= UNCOUNTED_POINTS else None
    return Group(
        system=system,
        engine=engine,
        precision=precision,
        has_experts=has_experts,
        models=tuple(sorted({point.model for point in points})),
        points=len(points),
        tpot=score(prediction.tpot) if prediction else None,
        tpot_uncounted=score(uncounted.tpot) if uncounted else None,
        tpot_filtered=score(prediction.tpot[within_sigmas(prediction.tpot)]) if prediction else None,
        ttft=score(prediction.ttft) if prediction else None,
        unseen=score(tpot_errors(prior, points)),
        is_engine_seen=bool(others),
        calibrated=calibrated(points, prior) if enough else None,
    )


def _chip(system: str, has_experts: bool, known: Sequence[Point]) -> Chip | None:
    errors = []
    mine = [point for point in known if point.system == system and point.has_experts == has_experts]
    for engine in sorted({point.engine for point in mine}):
        others = _others(system, has_experts, engine, known)
        if others:
            errors.append(tpot_errors(transferred(others), [point for point in mine if point.engine == engine]))
    if not errors:
        return None
    return Chip(system=system, has_experts=has_experts, tpot=score(np.concatenate(errors)))


def _others(system: str, has_experts: bool, engine: str, known: Sequence[Point]) -> list[Point]:
    return [
        point
        for point in known
        if point.engine == engine and point.has_experts == has_experts and point.system != system
    ]


def _summary(groups: Sequence[Group], chips: Sequence[Chip], *, has_experts: bool) -> Summary:
    mine = [group for group in groups if group.has_experts == has_experts]
    folds = [group.tpot.mean for group in mine if group.tpot]
    left = [chip.tpot.mean for chip in chips if chip.has_experts == has_experts]
    few = [group.calibrated.mean for group in mine if group.calibrated]
    first = [group.ttft.mean for group in mine if group.ttft]
    return Summary(
        cross_validated_median=median(folds),
        cross_validated_worst=max(folds),
        left_out_median=median(left),
        left_out_worst=max(left),
        calibrated_median=median(few),
        ttft_median=median(first),
    )
