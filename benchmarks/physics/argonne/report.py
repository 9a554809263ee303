"""What the step model makes of the Argonne rows: before any of them, across folds, models, chips, and after a few."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    Errors,
    Score,
    calibrated,
    folds,
    held_out,
    score,
    tpot_errors,
    transferred,
    within_sigmas,
)
from benchmarks.physics.argonne.rows import BatchPoint
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import Profile, find_profile


class BatchGroup(Struct, frozen=True, kw_only=True):
    """One (hardware, engine, precision), dense and mixture models apart."""

    vendor: str
    system: str
    engine: str
    precision: str
    has_experts: bool
    models: tuple[str, ...]
    points: int
    rests_on: str  # what the prices before any row came from
    before: Score
    before_bias: float  # the middle signed error in percent; below zero: it took longer than we said
    tpot: Score
    tpot_filtered: Score
    model_unseen: Score | None  # None: one model only
    chip_unseen: Score
    is_engine_seen: bool  # other chips under this engine were there to fit
    calibrated: Score | None


class VendorScore(Struct, frozen=True, kw_only=True):
    """The groups of one maker, in percent: the middle of their means, and the worst."""

    vendor: str
    has_experts: bool
    groups: int
    points: int
    before: float
    cross_validated: float
    cross_validated_worst: float
    chip_unseen: float
    calibrated: float


class BatchReport(Struct, frozen=True, kw_only=True):
    """Everything the section says."""

    rows: dict[str, int]
    vendors: tuple[VendorScore, ...]
    groups: tuple[BatchGroup, ...]


def batch_report(points: Sequence[BatchPoint], notes: Counter[str], shipped: Sequence[Profile]) -> BatchReport:
    """Ask every question; `shipped` are the profiles that none of these rows has made."""
    by_group: dict[tuple[bool, str, str, str], list[BatchPoint]] = defaultdict(list)
    for point in points:
        by_group[(point.has_experts, *point.group)].append(point)
    groups = tuple(_group(mine, points, shipped) for _, mine in sorted(by_group.items()))
    kinds = sorted({(group.has_experts, group.vendor) for group in groups})
    return BatchReport(
        rows=dict(notes) | {"kept: points": len(points)},
        vendors=tuple(_vendor(vendor, has_experts, groups) for has_experts, vendor in kinds),
        groups=groups,
    )


def _group(mine: list[BatchPoint], points: Sequence[BatchPoint], shipped: Sequence[Profile]) -> BatchGroup:
    first = mine[0]
    others = [
        point
        for point in points
        if point.engine == first.engine
        and point.has_experts == first.has_experts
        and point.chip.name != first.chip.name
    ]
    prior = transferred(others) if others else DATASHEET
    rests_on, before = _before(mine, shipped)
    across = held_out(mine, folds(mine))
    models = tuple(sorted({point.model for point in mine}))
    return BatchGroup(
        vendor=first.chip.vendor,
        system=first.system,
        engine=first.engine,
        precision=first.precision.value,
        has_experts=first.has_experts,
        models=models,
        points=len(mine),
        rests_on=rests_on,
        before=score(before),
        before_bias=float(np.median(before)) * 100,
        tpot=score(across),
        tpot_filtered=score(across[within_sigmas(across)]),
        model_unseen=score(held_out(mine, [point.model for point in mine])) if len(models) > 1 else None,
        chip_unseen=score(tpot_errors(prior, mine)),
        is_engine_seen=bool(others),
        calibrated=calibrated(mine, prior) if len(mine) > CALIBRATION_POINTS else None,
    )


def _before(mine: Sequence[BatchPoint], shipped: Sequence[Profile]) -> tuple[str, Errors]:
    bases: set[str] = set()
    errors = []
    for point in mine:
        found = find_profile(shipped, point.profile_key)
        bases.add(found.basis.value)
        errors.append(tpot_errors(found.profile.prices, [point])[0])
    return ", ".join(sorted(bases)), np.array(errors)


def _vendor(vendor: str, has_experts: bool, groups: Sequence[BatchGroup]) -> VendorScore:
    mine = [group for group in groups if (group.vendor, group.has_experts) == (vendor, has_experts)]
    return VendorScore(
        vendor=vendor,
        has_experts=has_experts,
        groups=len(mine),
        points=sum(group.points for group in mine),
        before=median(group.before.mean for group in mine),
        cross_validated=median(group.tpot.mean for group in mine),
        cross_validated_worst=max(group.tpot.mean for group in mine),
        chip_unseen=median(group.chip_unseen.mean for group in mine),
        calibrated=median(group.calibrated.mean for group in mine if group.calibrated),
    )
