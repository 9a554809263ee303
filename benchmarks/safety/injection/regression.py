"""Logistic regression with L2 on rows of hashed features, in numpy alone.

Accelerated gradient descent with a fixed step and a fixed number of steps: no line search that could branch on the
last bit of a sum, no randomness, and no matrix library, so the same rows give the same weights.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Floats = npt.NDArray[np.float64]

STEPS = 120
STEP = 12.0  # rows have length one and few features in common, so the loss curves by less than this allows
SURFACE_SHARE = 0.5  # of a surface feature beside a hashed one


class Rows(Struct, frozen=True, kw_only=True, eq=False):
    """Sparse rows: which buckets each has filled, every one once, and its surface features."""

    filled: npt.NDArray[np.int64]  # buckets of all rows, one row after the other
    starts: npt.NDArray[np.int64]  # where each row begins; one more, where the last one ends
    surface: Floats  # rows by features

    def taken(self, chosen: npt.NDArray[np.int64]) -> "Rows":
        """Some of the rows."""
        parts = [self.filled[self.starts[row] : self.starts[row + 1]] for row in chosen]
        lengths = np.array([len(part) for part in parts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return Rows(filled=np.concatenate(parts), starts=starts, surface=self.surface[chosen])


class Fitted(Struct, frozen=True, kw_only=True, eq=False):
    """Weights of the buckets and of the surface features, and the bias."""

    table: Floats
    surface: Floats
    bias: float


def logits(rows: Rows, fitted: Fitted) -> Floats:
    """One number per row, as the classifier at run time has it for a window."""
    lengths = np.diff(rows.starts)
    sums = np.concatenate([[0.0], np.cumsum(fitted.table[rows.filled])])
    hashed = (sums[rows.starts[1:]] - sums[rows.starts[:-1]]) / np.sqrt(np.maximum(lengths, 1))
    return hashed + (rows.surface * fitted.surface).sum(axis=1) + fitted.bias


def fit(rows: Rows, labels: Floats, weights: Floats, *, buckets: int, penalty: float, rows_min: int) -> Fitted:
    """The minimum of the weighted loss; buckets that fewer than `rows_min` rows fill stay at zero."""
    is_kept = np.bincount(rows.filled, minlength=buckets) >= rows_min
    lengths = np.maximum(np.diff(rows.starts), 1)
    each = 1 / np.sqrt(np.repeat(lengths, np.diff(rows.starts)))
    owner = np.repeat(np.arange(len(labels)), np.diff(rows.starts))
    kept = is_kept[rows.filled]
    filled, each, owner = rows.filled[kept], each[kept], owner[kept]
    weights = weights / weights.sum()
    surface = rows.surface * SURFACE_SHARE

    size = buckets + surface.shape[1] + 1
    point, ahead = np.zeros(size), np.zeros(size)
    for step in range(STEPS):
        table, outside, bias = ahead[:buckets], ahead[buckets:-1], ahead[-1]
        hashed = np.bincount(owner, weights=table[filled] * each, minlength=len(labels))
        margin = hashed + (surface * outside).sum(axis=1) + bias
        error = weights * (1 / (1 + np.exp(-margin)) - labels)
        gradient = np.empty(size)
        gradient[:buckets] = np.bincount(filled, weights=error[owner] * each, minlength=buckets)
        gradient[buckets:-1] = (surface * error[:, None]).sum(axis=0)
        gradient[-1] = error.sum()
        gradient[:-1] += penalty * ahead[:-1]
        moved = ahead - STEP * gradient
        ahead = moved + step / (step + 3) * (moved - point)
        point = moved
    return Fitted(table=point[:buckets], surface=point[buckets:-1] * SURFACE_SHARE, bias=float(point[-1]))
