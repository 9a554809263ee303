"""A tally of a closed loop in its stride: leaves out the answers that began together, signals when it has enough."""

import asyncio

from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.tally import BenchTally, ResponseTiming

FAILURES_MAX = 3


class SteadyTally(BenchTally):
    """Owned by one measured load; `is_done` is set once it has enough answers, or too many failures."""

    def __init__(self, *, answers: int) -> None:
        super().__init__()
        self.is_done = asyncio.Event()
        self._answers = answers
        self._first_at_s: float | None = None  # of the first answer; a request sent before it began with all the others

    def add(self, timing: ResponseTiming) -> None:
        """Count one complete answer, unless it is of those sent at the start, all at once."""
        if self._first_at_s is None:
            self._first_at_s = timing.finished_at_s
        if timing.sent_at_s < self._first_at_s:
            return
        super().add(timing)
        if self.succeeded >= self._answers:
            self.is_done.set()

    def add_failure(self, failed: ExchangeFailed) -> None:
        """Count one request that got no whole answer."""
        super().add_failure(failed)
        if self.failed >= FAILURES_MAX:
            self.is_done.set()
