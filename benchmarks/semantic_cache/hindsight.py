"""What is possible with all labels known, and how sure a measured share is."""

import math
from collections.abc import Callable

import numpy as np

from benchmarks.semantic_cache.replay import Flags, Replay, Scores


def clairvoyant_hits(scores: Scores, is_same: Flags, wrong_max: float) -> int:
    """The most that one threshold over these scores serves with at most so many wrong answers."""
    order = np.argsort(-scores, kind="stable")
    order = order[np.isfinite(scores[order])]
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # a threshold cannot split equal scores
    fitting = np.flatnonzero(np.cumsum(~is_same[order])[ends] <= wrong_max)
    return int(ends[fitting[-1]]) + 1 if len(fitting) else 0


def clairvoyant_hits_per_hit(scores: Scores, is_same: Flags, share: float) -> int:
    """The same, with wrong answers counted against what is served."""
    order = np.argsort(-scores, kind="stable")
    served = np.arange(1, len(order) + 1)
    fitting = np.flatnonzero((np.cumsum(~is_same[order]) <= share * served) & np.isfinite(scores[order]))
    return int(served[fitting[-1]]) if len(fitting) else 0


def best_hits(found: Replay, wrong_max: float) -> int:
    """By the better of both scores that the cache itself had: raw, and calibrated by class."""
    return max(clairvoyant_hits(scores, found.is_same, wrong_max) for scores in (found.logits, found.sureness))


def fixed_threshold_wrong(found: Replay) -> int:
    """Wrong answers of the one threshold over the cosine that serves as much as the cache did."""
    order = np.argsort(-found.cosines, kind="stable")[: found.hits]
    return int((~found.is_same[order]).sum())


def interval(count: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share by Clopper and Pearson."""
    if total == 0:
        return 0.0, 1.0
    low = 0.0 if count == 0 else _root(lambda share: 1 - _at_most(count - 1, total, share) - 0.025)
    high = 1.0 if count == total else _root(lambda share: 0.025 - _at_most(count, total, share))
    return low, high


def _at_most(count: int, total: int, share: float) -> float:
    """The chance of at most so many, by the sum of its terms."""
    log_share, log_rest = math.log(share), math.log1p(-share)
    first = math.lgamma(total + 1)
    terms = [
        first - math.lgamma(k + 1) - math.lgamma(total - k + 1) + k * log_share + (total - k) * log_rest
        for k in range(count + 1)
    ]
    greatest = max(terms)
    return min(1.0, math.exp(greatest) * sum(math.exp(term - greatest) for term in terms))


def _root(rising: Callable[[float], float]) -> float:
    low, high = 1e-12, 1 - 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low
