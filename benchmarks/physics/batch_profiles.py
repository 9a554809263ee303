"""Profiles from the static batches of 2024, for an engine that nobody has measured since; see the page for why."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.physics.accuracy import fit, folds, held_out, transferred, within_sigmas
from benchmarks.physics.argonne.rows import ENGINE_VERSION, LLAMACPP, BatchPoint
from benchmarks.physics.shipped_profiles import rounded
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.profile import Profile, ProfileKey
from heterodyne.physics.split import Split

SOURCE = "fitted to argonne-lcf/LLM-Inference-Bench Plots/All_results.csv at 4211f5d (BSD-3-Clause), batches of 2024"
ENGINES = (LLAMACPP,)
ERROR_MAX = 0.15  # cross-validated mean; what fits worse is not shipped


def fit_batch_profiles(points: Sequence[BatchPoint]) -> list[Profile]:
    """Dense models: chip at the precision measured, chip, architecture; all of the version of the rows."""
    groups: dict[ProfileKey, list[BatchPoint]] = defaultdict(list)
    for point in _trusted(points):
        for key in _keys(point):
            groups[key].append(point)
    return [_profile(key, mine) for key, mine in groups.items()]


def _trusted(points: Sequence[BatchPoint]) -> list[BatchPoint]:
    """Rows of the catalogue's chips that cross-validate well, without those beyond three sigma."""
    by_group: dict[tuple[str, str, str], list[BatchPoint]] = defaultdict(list)
    for point in points:
        if point.engine in ENGINES and not point.has_experts and point.chip.name in accelerators():
            by_group[point.group].append(point)
    kept = []
    for mine in by_group.values():
        errors = held_out(mine, folds(mine))
        if np.abs(errors).mean() <= ERROR_MAX:
            kept += [point for point, is_in in zip(mine, within_sigmas(errors), strict=True) if is_in]
    return kept


def _keys(point: BatchPoint) -> tuple[ProfileKey, ...]:
    engine, chip = point.engine, point.chip
    return (
        ProfileKey(
            engine=engine,
            engine_version=ENGINE_VERSION,
            chip=chip.name,
            precision=point.precision,
            has_experts=False,
        ),
        ProfileKey(engine=engine, engine_version=ENGINE_VERSION, chip=chip.name, has_experts=False),
        ProfileKey(engine=engine, engine_version=ENGINE_VERSION, architecture=chip.architecture, has_experts=False),
    )


def _profile(key: ProfileKey, points: Sequence[BatchPoint]) -> Profile:
    prices = fit(points) if key.precision else transferred(points)
    split = Split.MODEL if key.chip else Split.CHIP
    vendors = tuple(sorted({point.chip.vendor for point in points}))
    return Profile(
        key=key, prices=rounded(prices), measured_points=len(points), source=SOURCE, split=split, vendors=vendors
    )
