"""Fits the profiles that the package ships: prices only, none of the measured rows."""

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.physics import published_efficiencies
from benchmarks.physics.accuracy import (
    CALIBRATION_POINTS,
    CALIBRATION_RIDGE,
    cross_validated,
    fit,
    fit_first,
    fit_versions,
    transferred,
    within_sigmas,
)
from benchmarks.physics.published_efficiencies import PUBLISHED, published_points
from benchmarks.physics.report import groups_of, teachers
from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.fit import fit_prices
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.terms import Terms

SOURCE = "fitted to aiconfigurator-core 0.12.0 systems/silicon_sample.csv (NVIDIA, Apache-2.0), sample a"
ENGINES = {"trtllm": EngineKind.TENSORRT_LLM, "vllm": EngineKind.VLLM, "sglang": EngineKind.SGLANG}


def fit_profiles(points: Sequence[Point]) -> list[Profile]:
    """From the most to the least particular: chip and version, chip, architecture, engine."""
    groups: dict[ProfileKey, list[Point]] = defaultdict(list)
    for point in _without_outliers(teachers(points)):
        for key in _keys(point):
            groups[key].append(point)
    profiles = [_profile(key, mine, groups) for key, mine in groups.items() if len(mine) >= CALIBRATION_POINTS]
    dense = [point for point in teachers(points) if not point.has_experts]
    known = {profile.key for profile in profiles}
    return profiles + [profile for profile in _from_published(transferred(dense)) if profile.key not in known]


def rounded(prices: Prices) -> Prices:
    """Prices as the file keeps them."""
    return Prices.of(_short(value) for value in prices.values())


def _without_outliers(points: Sequence[Point]) -> list[Point]:
    """Leave out rows whose labels are likely wrong: what is shipped shall hold for other models too."""
    kept = []
    for mine in groups_of(points).values():
        kept += [point for point, is_in in zip(mine, within_sigmas(cross_validated(mine).tpot), strict=True) if is_in]
    return kept


def _from_published(prior: Prices) -> list[Profile]:
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
    profiles = []
    for key, points in groups.items():
        terms, seconds = zip(*points, strict=True)
        prices = fit_prices(terms, seconds, prior=prior, ridge=CALIBRATION_RIDGE)
        profiles.append(
            Profile(key=key, prices=rounded(prices), measured_points=len(points), source=published_efficiencies.SOURCE)
        )
    return profiles


def _profile(key: ProfileKey, points: list[Point], groups: dict[ProfileKey, list[Point]]) -> Profile:
    prices, first = _fitted(key, points, groups)
    return Profile(
        key=key,
        prices=rounded(prices),
        first_token=_rounded_first(first),
        measured_points=len(points),
        source=SOURCE,
    )


def _keys(point: Point) -> tuple[ProfileKey, ...]:
    chip = accelerator(point.system)
    engine = ENGINES[point.engine].value
    dense_or_not = point.has_experts
    whole = ProfileKey(engine=engine, has_experts=dense_or_not)
    family = ProfileKey(engine=engine, has_experts=dense_or_not, architecture=chip.architecture)
    own = ProfileKey(engine=engine, has_experts=dense_or_not, chip=chip.name)
    precise = ProfileKey(engine=engine, has_experts=dense_or_not, chip=chip.name, precision=point.precision)
    if not point.engine_version:
        return (precise, own, family, whole)
    versioned = ProfileKey(
        engine=engine,
        has_experts=dense_or_not,
        chip=chip.name,
        precision=point.precision,
        engine_version=point.engine_version,
    )
    return (versioned, precise, own, family, whole)


def _fitted(key: ProfileKey, points: list[Point], groups: dict[ProfileKey, list[Point]]) -> tuple[Prices, FirstToken]:
    if key.chip is None or key.precision is None:
        prices = transferred(points)
        return prices, fit_first(points, prices)
    if key.engine_version is None:
        prices = fit(points)
        return prices, fit_first(points, prices)
    parent = ProfileKey(engine=key.engine, has_experts=key.has_experts, chip=key.chip, precision=key.precision)
    return fit_versions(groups[parent])(key.engine_version)


def _rounded_first(first: FirstToken) -> FirstToken:
    return FirstToken(prompt=_short(first.prompt), queue=_short(first.queue), fixed_s=_short(first.fixed_s))


def _short(value: float) -> float:
    return float(f"{value:.4g}")
