"""One quantile of a stream of ratios, in a fixed number of logarithmic buckets that forget the past by halves."""

from math import exp, log

LOWEST, GROWTH, BUCKETS = 0.05, 1.15, 64  # up to a ratio of 380, each bucket within 7 % of its middle
READ_EVERY = 32  # samples between two readings of the quantile
HALVE_EVERY = 512

_PER_LOG = 1 / log(GROWTH)
_OFFSET = -log(LOWEST) * _PER_LOG


class QuantileSketch:
    """`value` is the quantile as of the last reading, or None before there are enough samples."""

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
