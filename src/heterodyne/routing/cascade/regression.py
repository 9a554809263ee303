"""Logistic regression with L2 in numpy alone, for rows of numbers and of hashed buckets, with labels between 0 and 1.

Accelerated gradient descent with a fixed step and a fixed number of steps: nothing is random and nothing branches on
the last bit of a sum, so the same rows give the same weights.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Floats = npt.NDArray[np.float64]

STEPS: Final = 250
STEP: Final = 0.8  # the loss curves by a quarter of a row's squared length at most, and rows are shorter than 2.2
DENSE_SCALE: Final = 0.35  # of a standardised number beside all buckets of a row together
DENSE_MAX: Final = 3.0  # standard deviations: a prompt like none before is not to be extrapolated to
ROWS_PER_BUCKET_MIN: Final = 3


class LinearModel(Struct, frozen=True, kw_only=True, eq=False):
    """Weights of a logistic model: `margin` of a row is the logarithm of its odds."""

    means: Floats
    deviations: Floats
    dense: Floats
    table: Floats  # one per bucket; none where rows have no buckets
    bias: float


def margins(model: LinearModel, dense: Floats, filled: Sequence[Sequence[int]]) -> Floats:
    """One number per row."""
    total = scaled(model, dense) @ model.dense + model.bias
    if len(model.table):
        total = total + np.array([_hashed_part(model.table, row) for row in filled])
    return total


def scaled(model: LinearModel, dense: Floats) -> Floats:
    """Numbers as the weights read them."""
    standard = (dense - model.means) / model.deviations
    return np.clip(standard, -DENSE_MAX, DENSE_MAX) * DENSE_SCALE


def fit(dense: Floats, filled: Sequence[Sequence[int]], labels: Floats, *, buckets: int, penalty: float) -> LinearModel:
    """The weights with the least loss and penalty; buckets that hardly any row fills stay at zero."""
    rows = len(labels)
    deviations = dense.std(axis=0)
    start = LinearModel(
        means=dense.mean(axis=0),
        deviations=np.where(deviations > 0, deviations, 1.0),
        dense=np.zeros(dense.shape[1]),
        table=np.zeros(buckets),
        bias=0.0,
    )
    numbers = scaled(start, dense)
    lengths = np.array([len(row) for row in filled] if buckets else [0] * rows)
    owner = np.repeat(np.arange(rows), lengths)
    places = np.array([place for row in filled for place in row] if buckets else [], dtype=np.int64)
    each = 1 / np.sqrt(np.maximum(lengths, 1))[owner]
    is_kept = (np.bincount(places, minlength=buckets) >= ROWS_PER_BUCKET_MIN)[places]
    places, owner, each = places[is_kept], owner[is_kept], each[is_kept]

    size = buckets + dense.shape[1] + 1
    point, ahead = np.zeros(size), np.zeros(size)
    for step in range(STEPS):
        margin = numbers @ ahead[buckets:-1] + ahead[-1]
        margin += np.bincount(owner, weights=ahead[places] * each, minlength=rows)
        error = (1 / (1 + np.exp(-margin)) - labels) / rows
        gradient = np.empty(size)
        gradient[:buckets] = np.bincount(places, weights=error[owner] * each, minlength=buckets)
        gradient[buckets:-1] = numbers.T @ error
        gradient[-1] = error.sum()
        gradient[:-1] += penalty * ahead[:-1]
        moved = ahead - STEP * gradient
        ahead = moved + step / (step + 3) * (moved - point)
        point = moved
    return LinearModel(
        means=start.means,
        deviations=start.deviations,
        dense=point[buckets:-1],
        table=point[:buckets],
        bias=float(point[-1]),
    )


def _hashed_part(table: Floats, filled: Sequence[int]) -> float:
    return float(table[list(filled)].sum()) / math.sqrt(max(1, len(filled)))
