"""Pure: when a batch will be done, by how it has gone lately."""

from math import exp
from typing import Final

MEMORY_S: Final = 300.0  # what was longer ago counts for little
LINES_MIN: Final = 20  # before that nothing is said


class BatchForecast:
    """Fed with how many lines are done at a time."""

    def __init__(self, done: int, now_s: float) -> None:
        self._first = done
        self._done, self._at_s = done, now_s
        self._lines, self._seconds = 0.0, 0.0  # weighed by how long ago they were

    def note(self, done: int, now_s: float) -> None:
        """So many are done by now."""
        passed_s = now_s - self._at_s
        if passed_s <= 0.0:
            return
        kept = exp(-passed_s / MEMORY_S)
        self._lines = kept * self._lines + (done - self._done)
        self._seconds = kept * self._seconds + passed_s
        self._done, self._at_s = done, now_s

    def left_s(self, total: int) -> float | None:
        """Until the last line is answered; None: it cannot be told yet."""
        if self._done >= total:
            return 0.0
        if self._done - self._first < LINES_MIN or self._lines <= 0.0:
            return None
        return (total - self._done) * self._seconds / self._lines
