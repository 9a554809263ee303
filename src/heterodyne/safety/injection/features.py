"""A text becomes a set of numbers: hashes of its words, word pairs and short runs of characters.

A hash is arithmetic on the bytes of the text alone, done on the whole text at once with numpy, so it is the same in
every process and on every machine. What the hashes are worth is in the weights; whoever changes this file trains anew.
"""

import unicodedata
from typing import Final

import numpy as np
import numpy.typing as npt

BUCKETS: Final = 1 << 16  # of the words, and as many of the runs of characters
BYTES_MAX: Final = 4096  # of one window once it is normalised; compatibility forms can be many times as long

Hashes = npt.NDArray[np.uint64]

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern, by which neighbours land far apart
_PAIR: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_SKIP: Final = np.uint64(0x165667B19E3779F9)
_SHIFT: Final = np.uint64(48)  # leaves 16 bits
_BASE: Final = 0x100000001B3
_BASE_INVERSE: Final = pow(_BASE, -1, 1 << 64)


def _powers(base: int) -> Hashes:
    powers, value = [], 1
    for _ in range(BYTES_MAX + 3):
        powers.append(value)
        value = value * base % (1 << 64)
    return np.array(powers, np.uint64)


_POWERS: Final = _powers(_BASE)
_POWERS_INVERSE: Final = _powers(_BASE_INVERSE)

# Digits are one digit, so that numbers look alike; control characters are spaces.
_BYTES: Final = bytes(48 if 48 <= byte <= 57 else 32 if byte < 32 else byte for byte in range(256))
_IS_WORD: Final = np.array([chr(byte).isalnum() or byte > 127 or byte == 39 for byte in range(256)])

# What looks like ASCII is read as ASCII: tags by the letters they stand for, typographic quotes; what joins is dropped.
_LOOKS: Final = {
    **{0xE0000 + code: chr(code) for code in range(0x20, 0x7F)},
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0x202D, 0x202E), ""),
    **dict.fromkeys((0x2018, 0x2019), "'"),
    **dict.fromkeys((0x201C, 0x201D), '"'),
    **dict.fromkeys((0x2013, 0x2014), "-"),
}


def normalised(text: str) -> bytes:
    """A text as it is hashed: lower case, single spaces, one at either end."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_LOOKS))
    words = text.lower().encode("utf-8", "replace").translate(_BYTES).split()
    return b" " + b" ".join(words)[: BYTES_MAX - 2] + b" "


def buckets(data: bytes) -> npt.NDArray[np.int64]:
    """The buckets that a normalised text fills, some of them more than once: words below `BUCKETS`, runs above."""
    codes = np.frombuffer(data, np.uint8)
    wide = codes.astype(np.uint64)
    hashes = [_bucket(found) for found in _words(codes, wide)]
    hashes += [_bucket(found) + BUCKETS for found in _character_runs(wide)]
    return np.concatenate(hashes)


def _bucket(hashes: Hashes) -> npt.NDArray[np.int64]:
    return ((hashes * _SPREAD) >> _SHIFT).astype(np.int64)


def _words(codes: npt.NDArray[np.uint8], wide: Hashes) -> list[Hashes]:
    """Hashes of words, of neighbours, and of words that have one between them.

    The hash of a word is its polynomial in `_BASE`: a difference of running sums, moved to position 0.
    """
    inside = _IS_WORD[codes]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]  # both ends of the text are spaces
    sums = np.zeros(len(wide) + 1, np.uint64)
    np.cumsum((wide + np.uint64(1)) * _POWERS[: len(wide)], out=sums[1:])
    words = (sums[ends] - sums[starts]) * _POWERS_INVERSE[starts]
    return [words, words[:-1] * _PAIR + words[1:], words[:-2] * _SKIP + words[2:]]


def _character_runs(wide: Hashes) -> list[Hashes]:
    short = (wide[:-2] << np.uint64(16)) | (wide[1:-1] << np.uint64(8)) | wide[2:]
    long = (short[:-2] << np.uint64(16)) | (wide[3:-1] << np.uint64(8)) | wide[4:]
    return [short, long + _PAIR]
