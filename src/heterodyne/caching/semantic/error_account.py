"""How many wrong answers were served at most: a bound that holds in any order of requests and under any drift.

A wrong answer that was about to be served is served or, by the coin of exploration, asked anew and seen to be wrong.
The coin alone decides which, whatever the requests are and however they were chosen: so the wrong answers that were
seen tell how many were not. No distribution is assumed, and nothing has to be learned for it to hold.

The proof: let p be the share that is explored when such an answer comes up. For a factor a > 1 take
b = (1 - (1 - p) a) / p, so that (1 - p) a + p b = 1. The product of an a for every wrong answer served and a b for
every one seen is then a martingale that begins at 1, and so is a mixture of such products. By Ville's inequality it
reaches 1 / (1 - confidence) with a probability of at most 1 - confidence, at any time at all. The product grows with
the number served; the greatest number at which it is still smaller is the bound. Serving only while that bound is
within the budget keeps the wrong answers within it at every moment, for the budget never shrinks.

The less is explored, the smaller a has to be for b to stay positive, and the looser is the bound. So an account begins
with every second answer explored and lowers that share as its budget grows; factors that became too great are left out
of the mixture, which only makes it smaller.
"""

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

# Logarithms of the factors, and what each is worth in the mixture. Great ones are best while little was seen and much
# is explored, small ones when much was seen; the middle is where caches spend most of their time.
_FACTORS: Final = (
    (0.55, 0.05),
    (0.3, 0.06),
    (0.16, 0.12),
    (0.1, 0.17),
    (0.064, 0.2),
    (0.038, 0.2),
    (0.023, 0.12),
    (0.013, 0.05),
    (0.006, 0.03),
)
SHARE_FIRST: Final = 0.5  # explored, while the budget is small
_SHARE_STEP: Final = 0.75


class ErrorBound(Struct, frozen=True, kw_only=True):
    """Wrong answers that are allowed: the greater of a share of all requests and a share of those that were served.

    A share of what is served alone cannot be held from the first answer on, because that one may be wrong, and an
    account that is closed would never open again. So a bound per hit needs a small one per request beside it.
    """

    per_request: float
    per_hit: float = 0.0

    def allowed(self, requests: float, hits: float) -> float:
        """How many wrong answers that is."""
        return max(self.per_request * requests, self.per_hit * hits)


class ErrorFigures(Struct, frozen=True, kw_only=True):
    """An account at a moment."""

    requests: int
    hits: int
    explored: int
    explored_wrong: int
    wrong_max: int  # served, at the confidence of the account
    headroom: float  # wrong answers that may still be served
    explored_share_min: float


class ErrorAccount:
    """The wrong answers of one tenant: what is allowed, and what may have been served."""

    def __init__(
        self,
        *,
        bound: ErrorBound,
        confidence: float,
        explored_share_min: float,
        headroom_max: float,
    ) -> None:
        self._bound = bound
        self._headroom_max = headroom_max  # what a long good past may leave to a bad present
        self._threshold = -math.log(1 - confidence)
        self._logs = [math.log(weight) for _, weight in _FACTORS]
        self._share_min = max(SHARE_FIRST, explored_share_min)
        self._share_last = explored_share_min
        self._requests = self._hits = self._explored = self._explored_wrong = 0
        self._forfeited = 0.0
        self._served_max = self._solve(self._share_min)

    @property
    def explored_share_min(self) -> float:
        """The least share of answers that is explored now."""
        return self._share_min

    def lower_share(self, headroom_left: float) -> None:
        """Explores less, where the bound that is looser by it leaves so much in hand."""
        share = max(self._share_min * _SHARE_STEP, self._share_last)
        if share < self._share_min and self.budget - self._solve(share) >= headroom_left:
            self._share_min = share
            self._served_max = self._solve(share)

    @property
    def wrong_max(self) -> int:
        """The most wrong answers that may have been served."""
        return min(self._served_max, self._hits)

    @property
    def budget(self) -> float:
        """Wrong answers that are allowed, served or not."""
        return self._bound.allowed(self._requests, self._hits) - self._forfeited

    @property
    def headroom(self) -> float:
        """Wrong answers that may still be served; below zero nothing may."""
        return self.budget - self.wrong_max

    def may_serve(self) -> bool:
        """Whether one more answer may be served, though it be wrong; asked after its request was counted."""
        hits = self._hits + 1
        return min(self._served_max, hits) <= self._bound.allowed(self._requests, hits) - self._forfeited

    def count_request(self) -> None:
        """A request asked the cache, whether it had a candidate or not."""
        self._requests += 1
        if self.headroom > self._headroom_max:
            self._forfeited += self.headroom - self._headroom_max

    def count_served(self) -> None:
        """An answer was served."""
        self._hits += 1

    def count_explored(self, explored_share: float, is_wrong: bool) -> None:
        """An answer that would have been served was asked anew; its chance of that was `explored_share`."""
        assert explored_share >= self._share_min
        self._explored += 1
        if not is_wrong:
            return
        self._explored_wrong += 1
        for number, (step, _) in enumerate(_FACTORS):
            factor = (1 - (1 - explored_share) * math.exp(step)) / explored_share
            self._logs[number] += math.log(factor) if factor > 0 else -math.inf
        self._served_max = self._solve(self._share_min)

    def figures(self) -> ErrorFigures:
        """For tests, pages and metrics."""
        return ErrorFigures(
            requests=self._requests,
            hits=self._hits,
            explored=self._explored,
            explored_wrong=self._explored_wrong,
            wrong_max=self.wrong_max,
            headroom=self.headroom,
            explored_share_min=self._share_min,
        )

    def _solve(self, share_min: float) -> int:
        """The greatest number of wrong answers at which the mixture has not reached its threshold."""
        greatest = -math.log1p(-share_min)
        parts = [
            (step, log)
            for (step, _), log in zip(_FACTORS, self._logs, strict=True)
            if step < greatest and log > -math.inf
        ]
        least, most = 0, 1
        while _log_mixture(parts, most) < self._threshold:
            least, most = most, most * 2
        while most - least > 1:
            middle = (least + most) // 2
            if _log_mixture(parts, middle) < self._threshold:
                least = middle
            else:
                most = middle
        return least


def _log_mixture(parts: Sequence[tuple[float, float]], wrong: int) -> float:
    terms = [log + wrong * step for step, log in parts]
    greatest = max(terms)
    return greatest + math.log(sum([math.exp(term - greatest) for term in terms]))
