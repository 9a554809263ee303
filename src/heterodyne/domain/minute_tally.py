"""Sums of requests that grow."""

from heterodyne.domain.history import Sums
from heterodyne.domain.spread import SpreadTally

MICRO = 1_000_000
THOUSANDTHS = 1000.0

COUNTS = (
    *("requests", "errors", "refused", "promised", "kept", "retried", "hedged"),
    *("prompt_tokens", "cached_tokens", "completion_tokens", "usd_micro", "replica_us", "faults"),
)
SPREADS = ("ttft", "itl", "total", "queue", "ttft_error", "itl_error")


class MinuteTally:
    """The fields are those of `Sums`."""

    __slots__ = (*COUNTS, *SPREADS)

    def __init__(self) -> None:
        self.requests = self.errors = self.refused = self.promised = self.kept = self.retried = self.hedged = 0
        self.prompt_tokens = self.cached_tokens = self.completion_tokens = self.usd_micro = self.replica_us = 0
        self.faults = 0
        self.ttft, self.itl, self.total = SpreadTally(), SpreadTally(), SpreadTally()
        self.queue, self.ttft_error, self.itl_error = SpreadTally(), SpreadTally(), SpreadTally()

    def merge(self, other: "MinuteTally | Sums") -> None:
        """Everything that another one has."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in SPREADS:
            getattr(self, name).merge(getattr(other, name))

    def sums(self) -> Sums:
        """As they are now."""
        return Sums(
            **{name: getattr(self, name) for name in COUNTS},
            **{name: getattr(self, name).distribution() for name in SPREADS},
        )
