"""Least squares with no negative answer: the active-set method of Lawson and Hanson."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def nonnegative_least_squares(matrix: Vector, target: Vector) -> Vector:
    """The x >= 0 that brings matrix @ x closest to target.

    Columns enter one at a time where they help most; one that would turn negative leaves again.
    """
    gram = matrix.T @ matrix
    pull = matrix.T @ target
    width = gram.shape[0]
    inside = np.zeros(width, dtype=bool)
    answer = np.zeros(width)
    enough = 1e-10 * float(np.abs(pull).max(initial=0.0))
    for _ in range(10 * width):
        gain = np.where(inside, -np.inf, pull - gram @ answer)
        column = int(gain.argmax())
        if gain[column] <= enough:
            break
        inside[column] = True
        answer = _retreat(gram, pull, answer, inside)
    return answer


def _retreat(gram: Vector, pull: Vector, answer: Vector, inside: NDArray[np.bool_]) -> Vector:
    """Solve on the columns inside, stepping back to the border and dropping a column while one is negative."""
    while inside.any():
        solved = np.zeros_like(answer)
        solved[inside] = np.linalg.lstsq(gram[np.ix_(inside, inside)], pull[inside], rcond=None)[0]
        falling = inside & (solved <= 0)
        if not falling.any():
            return solved
        ratio = answer[falling] / np.maximum(answer[falling] - solved[falling], 1e-300)
        answer = answer + float(ratio.min()) * (solved - answer)
        inside &= answer > 1e-14 * max(float(answer.max()), 1e-300)
        answer = np.where(inside, answer, 0.0)
    return np.zeros_like(answer)
