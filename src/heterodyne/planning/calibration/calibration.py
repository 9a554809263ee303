"""Measured points become a profile: today's prices made as slow as the replica is, then fitted, and judged honestly.

What a fit is worth is shown by points it has not seen: each point is left out once and predicted from the others.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.fit import fit_coefficients, fit_first_token, fit_prices, rescale
from heterodyne.physics.memory import Layout
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.serving import Load, serve, serving_terms
from heterodyne.physics.step_time import prefill_s
from heterodyne.physics.terms import Terms
from heterodyne.planning.calibration.points import POINTS_MIN, CalibrationPoint, replica_of

RIDGE = 3e-2  # how firmly a dozen points are held towards the prices we had
PACE_RIDGE = 1e-3  # two factors need hardly any hold
STEP_SHARE_MAX = 0.9  # of a wait for the first token at least the rest is the prompt's own, whatever a step takes


class MeasuredPoint(Struct, frozen=True, kw_only=True):
    """What one point took; tokens are those the engine counted, all numbers means."""

    point: CalibrationPoint
    prompt_tokens: float
    output_tokens: float
    ttft_s: float
    itl_s: float
    answers: int

    @property
    def load(self) -> Load:
        """The load as it really was."""
        return Load(
            concurrency=self.point.concurrency, prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens
        )


class ExpectedTimes(Struct, frozen=True, kw_only=True):
    """The two times of a point as a profile has them."""

    ttft_s: float
    itl_s: float


class PointComparison(Struct, frozen=True, kw_only=True):
    """One point: measured, as we had it before, and as the other points have it now."""

    measured: MeasuredPoint
    before: ExpectedTimes
    left_out: ExpectedTimes  # by a fit that has not seen this point


class Accuracy(Struct, frozen=True, kw_only=True):
    """Mean relative errors, as shares."""

    ttft: float
    itl: float

    @property
    def both(self) -> float:
        """The one number two fits are compared by."""
        return (self.ttft + self.itl) / 2


class Calibration(Struct, frozen=True, kw_only=True):
    """The profile of the replica and what it is worth."""

    profile: Profile
    compared: tuple[PointComparison, ...]
    before: Accuracy
    left_out: Accuracy

    @property
    def is_better(self) -> bool:
        """Whether points it has not seen are predicted better than before."""
        return self.left_out.both < self.before.both


def calibrate(
    layout: Layout,
    prior: Profile,
    measured: Sequence[MeasuredPoint],
    *,
    engine_version: str | None = None,
    source: str = "",
) -> Calibration:
    """Fit a profile to the points; raises `InvalidSpec` when there are too few."""
    if len(measured) < POINTS_MIN:
        raise InvalidSpec(f"points: {len(measured)} were measured, a fit needs {POINTS_MIN}")
    key = ProfileKey(
        engine=layout.engine.value,
        engine_version=engine_version,
        chip=layout.accelerator.name,
        precision=layout.precision,
        tp=layout.tp,
        has_experts=layout.model.experts is not None,
    )
    compared = tuple(
        PointComparison(
            measured=one,
            before=expected(layout, prior, one.load),
            left_out=expected(layout, _fit(layout, prior, [*measured[:place], *measured[place + 1 :]]), one.load),
        )
        for place, one in enumerate(measured)
    )
    profile = structs.replace(
        _rounded(_fit(layout, prior, measured)), key=key, measured_points=len(measured), source=source
    )
    return Calibration(
        profile=profile,
        compared=compared,
        before=_accuracy([(one.measured, one.before) for one in compared]),
        left_out=_accuracy([(one.measured, one.left_out) for one in compared]),
    )


def expected(layout: Layout, profile: Profile, load: Load) -> ExpectedTimes:
    """The times of a load as a profile has them."""
    served = serve(replica_of(layout, profile), load)
    return ExpectedTimes(ttft_s=served.ttft_s, itl_s=served.itl_s)


def at_the_pace_of(layout: Layout, profile: Profile, alone: MeasuredPoint) -> Profile:
    """A profile made as fast or slow as one request alone was, to guess how long other loads take."""
    said = expected(layout, profile, alone.load)
    steps, prompts = alone.itl_s / said.itl_s, alone.ttft_s / said.ttft_s
    first = profile.first_token
    return structs.replace(
        profile,
        prices=_paced(profile.prices, steps, prompts),
        first_token=structs.replace(first, fixed_s=first.fixed_s * prompts),
    )


def _fit(layout: Layout, prior: Profile, measured: Sequence[MeasuredPoint]) -> Profile:
    placement = replica_of(layout, prior).placement
    terms = [serving_terms(placement, one.load, running=one.load.concurrency) for one in measured]
    itl_s = [one.itl_s for one in measured]
    prices = fit_prices(terms, itl_s, prior=_as_slow(prior.prices, terms, itl_s), ridge=RIDGE)
    bare = structs.replace(prior, prices=prices, first_token=FirstToken(prompt=0.0, queue=0.0, fixed_s=0.0))
    first_token = fit_first_token(
        [prefill_s(placement, prices, tokens=one.prompt_tokens) for one in measured],
        [1.0] * len(measured),  # the others' part of a wait is taken off as the model has it, and not fitted
        [
            max(one.ttft_s - expected(layout, bare, one.load).ttft_s, one.ttft_s * (1 - STEP_SHARE_MAX))
            for one in measured
        ],
    )
    return structs.replace(prior, prices=prices, first_token=first_token)


def _as_slow(prior: Prices, terms: Sequence[Terms], itl_s: Sequence[float]) -> Prices:
    """The prior as fast or slow as the points are, steps and prompts each by a factor of their own.

    Silicon far from what the prior knows differs in the two: a slow processor reads its weights well enough and
    multiplies matrices badly.
    """
    overall = rescale(prior, terms, itl_s)
    prompts_only = _paced(prior, 0.0, 1.0)
    prompt_s = [prompts_only.seconds(one) for one in terms]
    step_s = [prior.seconds(one) - prompt for one, prompt in zip(terms, prompt_s, strict=True)]
    steps, prompts = fit_coefficients(np.stack([step_s, prompt_s], axis=1), np.array(itl_s), ridge=PACE_RIDGE)
    if not (steps > 0 and prompts > 0):  # no point has prompts beside its steps, or they cannot be told apart
        return overall
    return _paced(prior, float(steps), float(prompts))


def _paced(prices: Prices, steps: float, prompts: float) -> Prices:
    return Prices.of(
        value * (prompts if name.startswith("prompt_") else steps) for name, value in structs.asdict(prices).items()
    )


def _rounded(profile: Profile) -> Profile:
    """Four digits: more would claim what a dozen points cannot know."""
    first = {name: _short(value) for name, value in structs.asdict(profile.first_token).items()}
    prices = Prices.of(_short(value) for value in profile.prices.values())
    return structs.replace(profile, prices=prices, first_token=FirstToken(**first))


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _accuracy(pairs: Sequence[tuple[MeasuredPoint, ExpectedTimes]]) -> Accuracy:
    count = len(pairs)
    return Accuracy(
        ttft=sum(abs(guess.ttft_s / one.ttft_s - 1) for one, guess in pairs) / count,
        itl=sum(abs(guess.itl_s / one.itl_s - 1) for one, guess in pairs) / count,
    )
