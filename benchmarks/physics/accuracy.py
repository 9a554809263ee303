"""Fits prices and scores them on points they have not seen: by fold, by chip left out, after a few points."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.fit import fit_first_token, fit_prices
from heterodyne.physics.prices import DATASHEET, Prices
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.serving import ReplicaSpec, serve
from heterodyne.physics.step_time import prefill_s
from heterodyne.physics.terms import Terms
from heterodyne.planning.calibration.calibration import RIDGE as CALIBRATION_RIDGE

FOLDS = 5
DRAWS = 30
CALIBRATION_POINTS = 16  # a group with fewer cannot be both fitted and scored
VERSION_POINTS = 8  # from here on a version of the engine has prices of its own
RIDGE = 1e-2  # many points of the very silicon
TRANSFER_RIDGE = 3e-1  # other silicon: what it does not settle stays as published
SIGMAS = 3.0

Errors = NDArray[np.float64]


class Measured(Protocol):
    """A time per output token, and the terms it is made of."""

    @property
    def terms(self) -> Terms: ...
    @property
    def tpot_s(self) -> float: ...
    @property
    def setup(self) -> tuple[object, ...]: ...


class Score(Struct, frozen=True, kw_only=True):
    """Relative errors of predictions, in percent."""

    points: int
    mean: float
    median: float
    p90: float


class Prediction(Struct, frozen=True, kw_only=True):
    """Signed relative errors on points the fit has not seen."""

    tpot: Errors
    ttft: Errors


def score(errors: Errors) -> Score:
    """Sum up signed relative errors."""
    size = np.abs(errors) * 100
    return Score(
        points=len(size), mean=float(size.mean()), median=float(np.median(size)), p90=float(np.quantile(size, 0.9))
    )


def within_sigmas(errors: Errors) -> NDArray[np.bool_]:
    """Which errors are within three sigma; sigma is taken from the middle so that outliers do not widen it."""
    centre = np.median(errors)
    sigma = 1.4826 * np.median(np.abs(errors - centre))
    return np.abs(errors - centre) <= SIGMAS * sigma


def fit(points: Sequence[Measured], *, prior: Prices = DATASHEET, ridge: float = RIDGE) -> Prices:
    """Prices of measured TPOT."""
    return fit_prices([point.terms for point in points], [point.tpot_s for point in points], prior=prior, ridge=ridge)


def fit_first(points: Sequence[Point], prices: Prices) -> FirstToken:
    """First-token behaviour of measured TTFT, from points that do not wait for memory where there are any."""
    free = [point for point in points if point.running >= point.load.concurrency] or list(points)
    return fit_first_token(
        [prefill_s(point.placement, prices, tokens=point.load.prompt_tokens) for point in free],
        [point.running for point in free],
        # At least a tenth of the wait is the prompt's own, whatever the step under way took.
        [max(point.ttft_s - prices.seconds(point.terms) / 2, point.ttft_s / 10) for point in free],
    )


def tpot_errors(prices: Prices, points: Sequence[Measured]) -> Errors:
    """Signed relative TPOT errors."""
    return np.array([prices.seconds(point.terms) / point.tpot_s - 1 for point in points])


def ttft_errors(prices: Prices, first: FirstToken, points: Sequence[Point]) -> Errors:
    """Signed relative TTFT errors of the whole serving model."""
    profile = Profile(key=ProfileKey(), prices=prices, first_token=first)
    found = []
    for point in points:
        replica = ReplicaSpec(placement=point.placement, profile=profile, kv_capacity_tokens=point.capacity_tokens)
        found.append(serve(replica, point.load).ttft_s / point.ttft_s - 1)
    return np.array(found)


def cross_validated(points: Sequence[Point]) -> Prediction:
    """Errors on each point from a fit on the other folds."""
    fold = folds(points)
    tpot, ttft = np.zeros(len(points)), np.zeros(len(points))
    for number in range(FOLDS):
        held = [index for index, mine in enumerate(fold) if mine == number]
        seen = [point for point, mine in zip(points, fold, strict=True) if mine != number]
        prices_of = fit_versions(seen)
        for index in held:
            prices, first = prices_of(points[index].engine_version)
            tpot[index] = tpot_errors(prices, [points[index]])[0]
            ttft[index] = ttft_errors(prices, first, [points[index]])[0]
    return Prediction(tpot=tpot, ttft=ttft)


def held_out(points: Sequence[Measured], part_of: Sequence[object]) -> Errors:
    """TPOT errors on each point from a fit on the other parts."""
    errors = np.zeros(len(points))
    for part in set(part_of):
        seen = [point for point, mine in zip(points, part_of, strict=True) if mine != part]
        prices = fit(seen)
        for index, mine in enumerate(part_of):
            if mine == part:
                errors[index] = tpot_errors(prices, [points[index]])[0]
    return errors


def fit_versions(points: Sequence[Point]) -> Callable[[str], tuple[Prices, FirstToken]]:
    """Prices by engine version, as profiles are keyed: its own where it has enough points, else the group's."""
    base = fit(points)
    base_first = fit_first(points, base)
    by_version: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        by_version[point.engine_version].append(point)
    own: dict[str, tuple[Prices, FirstToken]] = {}
    for version, mine in by_version.items():
        if len(by_version) > 1 and len(mine) >= VERSION_POINTS:
            prices = fit(mine, prior=base)
            own[version] = (prices, fit_first(mine, prices))
    return lambda version: own.get(version, (base, base_first))


def transferred(points: Sequence[Measured]) -> Prices:
    """Prices for silicon that is not among the points."""
    return fit(points, prior=DATASHEET, ridge=TRANSFER_RIDGE)


def calibrated(points: Sequence[Measured], prior: Prices) -> Score | None:
    """The mean score over seeded draws of sixteen points, on the points not drawn; None when none are left."""
    scores = []
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(points))
        drawn = [points[index] for index in order[:CALIBRATION_POINTS]]
        seen = {point.setup for point in drawn}
        rest = [point for point in points if point.setup not in seen]
        if rest:
            scores.append(score(tpot_errors(fit(drawn, prior=prior, ridge=CALIBRATION_RIDGE), rest)))
    if not scores:
        return None
    return Score(
        points=len(points) - CALIBRATION_POINTS,
        mean=float(np.mean([one.mean for one in scores])),
        median=float(np.mean([one.median for one in scores])),
        p90=float(np.mean([one.p90 for one in scores])),
    )


def folds(points: Sequence[Measured], seed: int = 0) -> list[int]:
    """A fold for each point; points of one setup share theirs, so a near-duplicate never crosses."""
    setups = sorted({point.setup for point in points}, key=repr)
    order = np.random.default_rng(seed).permutation(len(setups))
    fold = {setups[index]: place % FOLDS for place, index in enumerate(order)}
    return [fold[point.setup] for point in points]
