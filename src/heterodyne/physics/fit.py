"""Prices from measured points: relative error, no negative price, held towards a prior where points say little."""

from collections.abc import Sequence

import numpy as np

from heterodyne.physics.nnls import Vector, nonnegative_least_squares
from heterodyne.physics.prices import Prices
from heterodyne.physics.profile import FirstToken
from heterodyne.physics.terms import Terms

ROUNDS = 8
# Errors below this share all weigh the same; larger ones weigh by size, not by square, so an odd point does not rule.
NOISE = 0.02
# A term that explains less than this share of the points' time is held as if it explained so much: few and
# one-sided points may not send the price of a term they hardly contain anywhere.
SHARE_MIN = 0.1
# At least this share of a wait is not the prompt's own time, whatever its price says.
BEYOND_MIN = 0.1
# No price falls below this share of its prior: a term that vanishes on a few points would be free on every other load.
PRIOR_SHARE_MIN = 0.25


def fit_prices(
    terms: Sequence[Terms],
    measured_s: Sequence[float],
    *,
    prior: Prices | None = None,
    ridge: float = 1e-3,
    weights: Sequence[float] | None = None,
) -> Prices:
    """Prices that explain the points, held towards the prior; without one, small prices are preferred."""
    start = np.array(prior.values()) if prior else None
    each = None if weights is None else np.array(weights)
    return Prices.of(fit_coefficients(np.array(terms), np.array(measured_s), prior=start, ridge=ridge, weights=each))


def rescale(prior: Prices, terms: Sequence[Terms], measured_s: Sequence[float]) -> Prices:
    """A prior from other silicon, made as fast or slow as the points are in the middle."""
    expected = np.array(terms) @ np.array(prior.values())
    ratio = float(np.median(np.array(measured_s) / expected))
    return Prices.of(value * ratio for value in prior.values())


def fit_first_token(
    prompt_s: Sequence[float],
    running: Sequence[float],
    wait_s: Sequence[float],
    *,
    ridge: float = 1e-3,
) -> FirstToken:
    """From a few prompts' own times, sequences running and measured waits; the steps between are already taken off.

    A prompt takes at least its own time, so only what goes beyond it is fitted.
    """
    own = np.array(prompt_s)
    others = np.maximum(np.array(running) - 1.0, 0.0)
    waits = np.array(wait_s)
    features = np.stack([own, own * others, np.ones_like(own)], axis=1)
    start = FirstToken()
    prior = np.array([start.prompt - 1.0, start.queue, start.fixed_s])
    beyond = np.maximum(waits - own, waits * BEYOND_MIN)
    prompt, queue, fixed = fit_coefficients(features, beyond, prior=prior, ridge=ridge)
    return FirstToken(prompt=1.0 + float(prompt), queue=float(queue), fixed_s=float(fixed))


def fit_first_token_freely(
    prompt_s: Sequence[float],
    running: Sequence[float],
    step_s: Sequence[float],
    wait_s: Sequence[float],
    *,
    ridge: float = 1e-4,
) -> FirstToken:
    """The same from many points: their own prompt, the others' in front, the steps between and the rest, unheld."""
    own = np.array(prompt_s)
    others = np.maximum(np.array(running) - 1.0, 0.0)
    features = np.stack([own, own * others, np.ones_like(own), np.array(step_s)], axis=1)
    prompt, queue, fixed, steps = fit_coefficients(features, np.array(wait_s), ridge=ridge)
    return FirstToken(prompt=float(prompt), queue=float(queue), fixed_s=float(fixed), steps=float(steps))


def fit_coefficients(
    features: Vector,
    measured: Vector,
    *,
    prior: Vector | None = None,
    ridge: float = 1e-3,
    weights: Vector | None = None,
) -> Vector:
    """Nonnegative weights of the features. The ridge counts each one in shares of the measured time it explains.

    `weights` say how much each point counts beside the others; without them all count the same.
    """
    relative = features / measured[:, None]
    scale = np.sqrt((relative**2).mean(axis=0))
    # A feature that no point has keeps its prior: it is put aside and never divides.
    present = scale > 0
    answer = np.zeros(features.shape[1]) if prior is None else prior.copy()
    if not present.any():
        return answer
    relative = relative[:, present] / scale[present]
    start = answer[present] * scale[present]
    count = len(relative)
    hold = np.sqrt(ridge * count) * np.maximum(1.0, SHARE_MIN / np.where(start > 0, start, np.inf))
    least = PRIOR_SHARE_MIN * start
    wanted = 1.0 - relative @ least
    counts = np.ones(count) if weights is None else np.sqrt(weights / weights.mean())
    weight = np.ones(count)
    for _ in range(ROUNDS):
        each = weight * counts
        found = nonnegative_least_squares(
            np.vstack([relative * each[:, None], np.diag(hold)]),
            np.concatenate([each * wanted, hold * (start - least)]),
        )
        weight = 1.0 / np.sqrt(np.maximum(np.abs(relative @ found - wanted), NOISE))
        weight /= np.sqrt((weight**2).mean())
    answer[present] = (least + found) / scale[present]
    return answer
