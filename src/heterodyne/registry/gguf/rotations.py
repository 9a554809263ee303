"""Where the rows of queries and keys stand. Positions rotate pairs of numbers of a head: llama.cpp's Llamas rotate
neighbours, the others a head's first half with its second."""

import numpy as np


def split_rotations(weights: np.ndarray, heads: int) -> np.ndarray:
    """From neighbours to halves."""
    return _swapped(weights, (heads, weights.shape[0] // heads // 2, 2))


def join_rotations(weights: np.ndarray, heads: int) -> np.ndarray:
    """From halves to neighbours."""
    return _swapped(weights, (heads, 2, weights.shape[0] // heads // 2))


def _swapped(weights: np.ndarray, pairs: tuple[int, int, int]) -> np.ndarray:
    rest = weights.shape[1:]
    return weights.reshape(*pairs, *rest).swapaxes(1, 2).reshape(weights.shape)
