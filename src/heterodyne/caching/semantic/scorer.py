"""How likely two prompts have the same answer: a linear model that learns from every pair of answers compared.

It promises nothing: what is served by it is bounded by the error account, however wrong the score is. A better score
serves more within the same bound.
"""

import math
from array import array
from collections.abc import Sequence
from typing import Final

from heterodyne.caching.semantic.features import BUCKETS

_RATE: Final = 0.1
_SQUARES_FIRST: Final = 0.01
_LOGIT_MAX: Final = 15.0


class PairScorer:
    """Logistic regression with a step size of its own for each bucket; one per tenant."""

    def __init__(self, *, memory_labels: float) -> None:
        self._weights = array("d", bytes(8 * BUCKETS))
        self._squares = array("d", [_SQUARES_FIRST]) * BUCKETS
        # Old gradients fade, so that a bucket whose meaning changed is learned anew.
        self._fading = math.exp(-1 / memory_labels)

    def logit(self, buckets: Sequence[int]) -> float:
        """The log-odds that the answer is the same."""
        weights = self._weights
        return min(max(sum([weights[bucket] for bucket in buckets]), -_LOGIT_MAX), _LOGIT_MAX)

    def learn(self, buckets: Sequence[int], is_same: bool) -> None:
        """What came of a pair."""
        error = 1 / (1 + math.exp(-self.logit(buckets))) - is_same
        squared, step = error * error, _RATE * error
        weights, squares, fading = self._weights, self._squares, self._fading
        for bucket in buckets:
            square = squares[bucket] = squares[bucket] * fading + squared
            weights[bucket] -= step / math.sqrt(square)
