"""Numbers of eight bits, whole or float, each row of which stands for its values divided by one scale."""

from collections.abc import Callable

import numpy as np
from msgspec import Struct

SCALE = "_scale"  # after the name of a weight: the tensor [rows, 1] that it is multiplied by
BLOCK_NUMBERS = 1 << 20  # that are worked on at once
# Of a row's largest value, what becomes the largest number; what is above it becomes that too. A few large values
# coarsen all others, so that cutting them off can be the smaller error.
CLIPS = tuple(1.0 - 0.02 * step for step in range(11))


class EightBits(Struct, frozen=True, kw_only=True):
    """One of the two formats."""

    dtype: str  # by its SafeTensors name
    largest: float
    encode: Callable[[np.ndarray], np.ndarray]  # of values no larger than that
    decode: Callable[[np.ndarray], np.ndarray]  # in 32 bits


def quantised_rows(
    values: np.ndarray, kind: EightBits, importances: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers, and the scales of the rows as [rows, 1].

    Of each row that clip is taken whose squared error is least; `importances` weigh the errors of its columns.
    """
    rows, columns = values.shape
    numbers, scales = np.empty((rows, columns), np.uint8), np.empty((rows, 1), np.float32)
    step = max(1, BLOCK_NUMBERS // max(1, columns))
    for first in range(0, rows, step):
        block = slice(first, first + step)
        numbers[block], scales[block] = _quantised_block(values[block], kind, importances)
    return numbers, scales


def dequantised_rows(numbers: np.ndarray, kind: EightBits, scales: np.ndarray) -> np.ndarray:
    """The values in 32 bits."""
    values: np.ndarray = kind.decode(numbers.view(np.uint8)) * scales
    return values


def _quantised_block(
    values: np.ndarray, kind: EightBits, importances: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    highest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    best_error = np.full(highest.shape, np.inf)
    best_numbers, best_scales = np.empty(values.shape, np.uint8), np.empty(highest.shape, np.float32)
    for clip in CLIPS:
        scales = (highest * np.float32(clip) / np.float32(kind.largest)).astype(np.float32)
        scales[scales == 0] = 1.0  # a row of zeros, or of values too small for 32 bits
        numbers = kind.encode(np.clip(values / scales, -kind.largest, kind.largest))
        # In 64 bits: two clips whose errors are near each other stay in their order, on whichever machine.
        errors = (dequantised_rows(numbers, kind, scales) - values).astype(np.float64) ** 2
        error = (errors if importances is None else errors * importances).sum(axis=1, keepdims=True)
        is_better = error < best_error
        best_error = np.where(is_better, error, best_error)
        best_scales = np.where(is_better, scales, best_scales)
        np.copyto(best_numbers, numbers, where=is_better)
    return best_numbers, best_scales


def _encoded_whole(values: np.ndarray) -> np.ndarray:
    rounded: np.ndarray = np.rint(values).astype(np.int8).view(np.uint8)
    return rounded


def _decoded_whole(numbers: np.ndarray) -> np.ndarray:
    return numbers.view(np.int8).astype(np.float32)


def _floats() -> np.ndarray:
    """What each of the 256 bytes of E4M3 stands for: a sign, four bits of exponent, three of fraction, no infinity."""
    numbers = np.arange(128)
    exponents, fractions = numbers >> 3, numbers & 7
    values = np.where(exponents > 0, (8 + fractions) * 2.0 ** (exponents - 10), fractions * 2.0**-9)
    values[127] = np.nan
    return np.concatenate((values, -values)).astype(np.float32)


FLOATS = _floats()
_POSITIVE = FLOATS[:127].astype(np.float64)
_MIDDLES = (_POSITIVE[1:] + _POSITIVE[:-1]) / 2


def _encoded_float(values: np.ndarray) -> np.ndarray:
    """Half way goes to the even neighbour, as hardware rounds."""
    sizes = np.abs(values).astype(np.float64)
    below = np.searchsorted(_MIDDLES, sizes, "left")
    is_half_way = sizes == _MIDDLES[np.minimum(below, len(_MIDDLES) - 1)]
    numbers = below + (is_half_way & (below % 2 == 1))
    signed: np.ndarray = (numbers | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)
    return signed


def _decoded_float(numbers: np.ndarray) -> np.ndarray:
    values: np.ndarray = FLOATS[numbers]
    return values


EIGHT_BITS = {
    "int8": EightBits(dtype="I8", largest=127.0, encode=_encoded_whole, decode=_decoded_whole),
    "fp8": EightBits(dtype="F8_E4M3", largest=448.0, encode=_encoded_float, decode=_decoded_float),
}
BY_DTYPE = {kind.dtype: kind for kind in EIGHT_BITS.values()}
