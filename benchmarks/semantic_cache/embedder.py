"""An embedder for the benchmark alone: words and runs of characters, weighed by rarity and hashed. No neural model.

It is far weaker than the embedding models that a gateway serves; what is measured with it is how well a bound is held
on given similarities, not how good similarities can be.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from heterodyne.caching.semantic.reading import read

Matrix = npt.NDArray[np.float32]

DIMENSIONS = 1024
_RUN_WEIGHT = 0.2


class Embedder:
    """Knows how rare each feature was in texts that are not measured."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = len(texts)
        self._counts: Counter[str] = Counter()
        for text in texts:
            self._counts.update(set(_features(text)))

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of length 1 for each text."""
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature in _features(text):
                code = crc32(feature.encode())
                weight = math.log((self._texts + 1) / (1 + self._counts[feature]))
                # A bit that the place does not depend on is the sign, so that features that meet do not add up.
                row[code % DIMENSIONS] += weight * (_RUN_WEIGHT if feature[0] == " " else 1) * (code >> 20 & 1 or -1)
        scaled: Matrix = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return scaled


def _features(text: str) -> Iterable[str]:
    found = read(text)
    joined = "_".join(found.words)
    return [*found.stems, *(" " + joined[start : start + 4] for start in range(len(joined) - 3))]
