"""When a request that still waits for its first token is worth sending to a second replica.

Only before the first token: after it there is something to lose. The sender of the hedge cancels the loser. How often
that may be is a budget of the model (`model_health`).
"""

from math import exp, log
from typing import Final

LOWEST: Final = 0.05  # up to a ratio of 380, each bucket within 7 % of its middle
GROWTH: Final = 1.15
BUCKETS: Final = 64
READ_EVERY: Final = 32  # samples between two readings of the quantile
HALVE_EVERY: Final = 512

_PER_LOG: Final = 1 / log(GROWTH)
_OFFSET: Final = -log(LOWEST) * _PER_LOG


class HedgeTimer:
    """One per replica: how late is unusually late there, as a ratio to the expected TTFT."""

    __slots__ = ("_factor_max", "_min_s", "_sketch")

    def __init__(self, *, quantile: float, factor_max: float, min_s: float) -> None:
        self._sketch = QuantileSketch(quantile)
        self._factor_max = factor_max
        self._min_s = min_s

    def on_sample(self, ratio: float) -> None:
        """A first token came after `ratio` times the expected time."""
        self._sketch.add(ratio)

    @property
    def ratio(self) -> float | None:
        """The learned quantile; None: not enough first tokens yet."""
        return self._sketch.value

    def after_s(self, expected_s: float) -> float:
        """How long to wait for the first token before a hedge; a slow replica cannot buy itself ever more time."""
        learned = self._sketch.value
        factor = self._factor_max if learned is None or learned > self._factor_max else learned
        after_s = expected_s * factor if factor > 1.0 else expected_s
        return after_s if after_s > self._min_s else self._min_s


class QuantileSketch:
    """One quantile of a stream of ratios, in a fixed number of logarithmic buckets that forget the past by halves.

    `value` is the quantile as of the last reading, or None before there are enough samples.
    """

    __slots__ = ("_buckets", "_quantile", "_samples", "value")

    def __init__(self, quantile: float) -> None:
        self._quantile = quantile
        self._buckets = [0] * BUCKETS
        self._samples = 0
        self.value: float | None = None

    def add(self, ratio: float) -> None:
        """Count one ratio."""
        index = int(log(ratio) * _PER_LOG + _OFFSET) if ratio > LOWEST else 0
        self._buckets[index if index < BUCKETS else BUCKETS - 1] += 1
        self._samples = samples = self._samples + 1
        if samples % READ_EVERY == 0:
            self._read()

    def _read(self) -> None:
        wanted = self._quantile * sum(self._buckets)
        seen = 0
        for index, count in enumerate(self._buckets):
            seen += count
            if count and seen >= wanted:
                self.value = LOWEST * exp((index + 0.5) / _PER_LOG)
                break
        if self._samples % HALVE_EVERY == 0:
            self._buckets = [count // 2 for count in self._buckets]
