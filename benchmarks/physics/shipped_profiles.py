"""Fits the profiles that the package ships: prices only, none of the measured rows."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.physics import published_efficiencies
from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    CALIBRATION_RIDGE,
    Errors,
    fit_first,
    transferred,
    within_sigmas,
)
from benchmarks.physics.groups import groups_of, teachers
from benchmarks.physics.pool import Known, Pool
from benchmarks.physics.published_efficiencies import PUBLISHED, published_points
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.fit import fit_prices
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.split import Split
from heterodyne.physics.terms import Terms

SOURCE = "fitted to aiconfigurator-core 0.12.0 systems/silicon_sample.csv (NVIDIA, Apache-2.0), sample a"
ENGINES = {"trtllm": EngineKind.TENSORRT_LLM, "vllm": EngineKind.VLLM, "sglang": EngineKind.SGLANG}
VENDORS = ("nvidia",)  # of every chip in the sample


def fit_profiles(points: Sequence[Point], errors: Errors) -> list[Profile]:
    """From the most to the least particular: model and version, model, chip, architecture, engine.

    `errors` are those of rows left out by setup: what lies beyond three sigma there has a wrong label more likely than
    not, and what is shipped shall hold for other models too.
    """
    kept = _without_outliers(points, errors)
    pool = Pool(kept)
    groups: dict[ProfileKey, list[Point]] = defaultdict(list)
    for point in kept:
        for key in _keys(point):
            groups[key].append(point)
    profiles = [_profile(key, mine, pool) for key, mine in groups.items() if len(mine) >= CALIBRATION_POINTS]
    dense = [point for point in teachers(points) if not point.has_experts]
    known = {profile.key for profile in profiles}
    return profiles + [profile for profile in _from_published(transferred(dense)) if profile.key not in known]


def rounded(prices: Prices) -> Prices:
    """Prices as the file keeps them."""
    return Prices.of(_short(value) for value in prices.values())


def _without_outliers(points: Sequence[Point], errors: Errors) -> list[Point]:
    error_of = {id(point): error for point, error in zip(points, errors, strict=True)}
    taught = {id(point) for point in teachers(points)}
    kept: list[Point] = []
    for group in groups_of(points).values():
        mine = [point for point in group if id(point) in taught]
        if mine:
            within = within_sigmas(np.array([error_of[id(point)] for point in mine]))
            kept += [point for point, is_in in zip(mine, within, strict=True) if is_in]
    return kept


def _from_published(prior: Prices) -> Iterator[Profile]:
    """Dense models under engines the sample lacks, held towards what other engines reach."""
    groups: dict[ProfileKey, list[tuple[Terms, float]]] = defaultdict(list)
    for published in PUBLISHED:
        engine, architecture = published.engine.value, accelerator(published.chip).architecture
        precise = ProfileKey(engine=engine, has_experts=False, chip=published.chip, precision=published.precision)
        for key in (
            precise,
            ProfileKey(engine=engine, has_experts=False, chip=published.chip),
            ProfileKey(engine=engine, has_experts=False, architecture=architecture),
            ProfileKey(engine=engine, has_experts=False),
        ):
            groups[key].extend(published_points(published))
    for key, points in groups.items():
        terms, seconds = zip(*points, strict=True)
        yield Profile(
            key=key,
            prices=rounded(fit_prices(terms, seconds, prior=prior, ridge=CALIBRATION_RIDGE)),
            measured_points=len(points),
            source=published_efficiencies.SOURCE,
            split=Split.CHIP,
            vendors=VENDORS,
        )


def _profile(key: ProfileKey, points: list[Point], pool: Pool) -> Profile:
    prices, first = _fitted(key, points, pool)
    return Profile(
        key=key,
        prices=rounded(prices),
        first_token=_rounded_first(first),
        measured_points=len(points),
        source=SOURCE,
        split=Split.CHIP if key.chip is None else Split.MODEL if key.model is None else Split.LAYOUT,
        vendors=VENDORS,
    )


def _keys(point: Point) -> Iterator[ProfileKey]:
    chip = accelerator(point.system)
    engine, kind = ENGINES[point.engine].value, point.has_experts
    of_chip = {"engine": engine, "has_experts": kind, "chip": chip.name}
    of_model = {**of_chip, "precision": point.precision, "model": point.model}
    if point.engine_version:
        yield ProfileKey(**of_model, engine_version=point.engine_version)
    yield ProfileKey(**of_model)
    yield ProfileKey(**of_chip)
    yield ProfileKey(engine=engine, has_experts=kind, architecture=chip.architecture)
    yield ProfileKey(engine=engine, has_experts=kind)


def _fitted(key: ProfileKey, points: list[Point], pool: Pool) -> Known:
    """As rows that are left out are predicted, so that the scores are those of what is shipped."""
    if key.engine_version is not None:
        return pool.nearest(points[0])
    if key.model is not None:
        return pool.of_model(points[0])
    if key.chip is not None:
        return pool.of_chip(points[0])
    prices, first = pool.of_engine(points[0])
    if key.architecture is None:
        return prices, first
    prices = pool.narrowed(points, prices)
    return prices, fit_first(points, prices)


def _rounded_first(first: FirstToken) -> FirstToken:
    # In bursts a fit may put a part of the prompt on those in front or on steps; one that comes alone takes all of it.
    return FirstToken(
        prompt=_short(max(first.prompt, 1.0)),
        queue=_short(first.queue),
        fixed_s=_short(first.fixed_s),
        steps=_short(first.steps),
    )


def _short(value: float) -> float:
    return float(f"{value:.4g}")
