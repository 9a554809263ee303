"""Fits prices and scores them on points they have not seen: by fold, by chip left out, after a few points."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.physics.silicon.rows import Point
from heterodyne.physics.fit import fit_first_token_freely, fit_prices
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


M = TypeVar("M", bound=Measured)


class Score(Struct, frozen=True, kw_only=True):
    """Relative errors of predictions, in percent."""

    points: int
    mean: float
    median: float
    p90: float


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


def fit(
    points: Sequence[Measured],
    *,
    prior: Prices = DATASHEET,
    ridge: float = RIDGE,
    weights: Sequence[float] | None = None,
) -> Prices:
    """Prices of measured TPOT."""
    terms, seconds = [point.terms for point in points], [point.tpot_s for point in points]
    return fit_prices(terms, seconds, prior=prior, ridge=ridge, weights=weights)


def fit_first(points: Sequence[Point], prices: Prices) -> FirstToken:
    """First-token behaviour of measured TTFT, from points that do not wait for memory where there are any."""
    alone = [point for point in points if point.is_ttft_alone] or points
    free = [point for point in alone if point.running >= point.load.concurrency] or alone
    return fit_first_token_freely(
        [prefill_s(point.placement, prices, tokens=point.load.prompt_tokens) for point in free],
        [point.running for point in free],
        [prices.seconds(point.terms) for point in free],
        [point.ttft_s for point in free],
    )


def tpot_errors(prices: Prices, points: Sequence[Measured]) -> Errors:
    """Signed relative TPOT errors."""
    return np.array([prices.seconds(point.terms) / point.tpot_s - 1 for point in points])


def ttft_errors(prices: Prices, first: FirstToken, points: Sequence[Point]) -> Errors:
    """Signed relative TTFT errors of the whole serving model; not a number where more than that was timed."""
    profile = Profile(key=ProfileKey(), prices=prices, first_token=first)
    found = []
    for point in points:
        replica = ReplicaSpec(placement=point.placement, profile=profile, kv_capacity_tokens=point.capacity_tokens)
        measured_s = point.ttft_s if point.is_ttft_alone else math.nan
        found.append(serve(replica, point.load).ttft_s / measured_s - 1)
    return np.array(found)


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


def transferred(points: Sequence[Measured]) -> Prices:
    """Prices for silicon that is not among the points."""
    return fit(points, prior=DATASHEET, ridge=TRANSFER_RIDGE)


def calibrated(points: Sequence[Measured], prior: Prices) -> Score | None:
    """The mean score over seeded draws of sixteen points, on the points not drawn; None when none are left."""
    scores = [score(tpot_errors(_calibrate(drawn, prior), rest)) for drawn, rest in _draws(points)]
    if not scores:
        return None
    return Score(
        points=len(points) - CALIBRATION_POINTS,
        mean=float(np.mean([one.mean for one in scores])),
        median=float(np.mean([one.median for one in scores])),
        p90=float(np.mean([one.p90 for one in scores])),
    )


def calibrated_errors(points: Sequence[Point], prior: Prices) -> tuple[Errors, Errors]:
    """Signed errors of TPOT and TTFT on the points not drawn, every draw after the other."""
    tpot, ttft = [np.empty(0)], [np.empty(0)]
    for drawn, rest in _draws(points):
        prices = _calibrate(drawn, prior)
        tpot.append(tpot_errors(prices, rest))
        ttft.append(ttft_errors(prices, fit_first(drawn, prices), rest))
    return np.concatenate(tpot), np.concatenate(ttft)


def _calibrate(drawn: Sequence[Measured], prior: Prices) -> Prices:
    return fit(drawn, prior=prior, ridge=CALIBRATION_RIDGE)


def _draws(points: Sequence[M]) -> Iterator[tuple[list[M], list[M]]]:
    """Sixteen points, and those that share no setup with them."""
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(points))
        drawn = [points[index] for index in order[:CALIBRATION_POINTS]]
        seen = {point.setup for point in drawn}
        rest = [point for point in points if point.setup not in seen]
        if rest:
            yield drawn, rest


def folds(points: Sequence[Measured], seed: int = 0) -> list[int]:
    """A fold for each point; points of one setup share theirs, so a near-duplicate never crosses."""
    setups = sorted({point.setup for point in points}, key=repr)
    order = np.random.default_rng(seed).permutation(len(setups))
    fold = {setups[index]: place % FOLDS for place, index in enumerate(order)}
    return [fold[point.setup] for point in points]
