"""Latencies in a fixed number of logarithmic buckets: flat memory, and quantiles within half a percent."""

from array import array
from math import exp, log

LOWEST_S = 1e-6
HIGHEST_S = 86_400.0
GROWTH = 1.01
# A bucket spans [edge, edge * GROWTH); its middle is at most (GROWTH - 1) / (GROWTH + 1) away from any of it.
RELATIVE_ERROR_MAX = (GROWTH - 1) / (GROWTH + 1)

_LOG_GROWTH = log(GROWTH)
_LOG_LOWEST = log(LOWEST_S)
_BUCKETS = int((log(HIGHEST_S) - _LOG_LOWEST) / _LOG_GROWTH) + 1


class LatencyHistogram:
    """Counts of seconds; values outside a microsecond to a day fall into the end buckets."""

    def __init__(self) -> None:
        self._buckets = array("Q", bytes(8 * _BUCKETS))
        self.count = 0
        self.sum_s = 0.0
        self.highest_s = 0.0

    def add(self, value_s: float) -> None:
        """Count one value."""
        index = int((log(value_s) - _LOG_LOWEST) / _LOG_GROWTH) if value_s > LOWEST_S else 0
        self._buckets[min(index, _BUCKETS - 1)] += 1
        self.count += 1
        self.sum_s += value_s
        self.highest_s = max(self.highest_s, value_s)

    def mean_s(self) -> float:
        """Exact, not from the buckets."""
        return self.sum_s / self.count if self.count else 0.0

    def quantile_s(self, share: float) -> float:
        """The smallest value that at least `share` of the values do not exceed; zero when empty."""
        rank = max(1, -int(-share * self.count // 1))
        seen = 0
        for index, tally in enumerate(self._buckets):
            seen += tally
            if tally and seen >= rank:
                return min(_middle_s(index), self.highest_s)
        return 0.0


def _middle_s(index: int) -> float:
    return exp(_LOG_LOWEST + index * _LOG_GROWTH) * 2 * GROWTH / (1 + GROWTH)
