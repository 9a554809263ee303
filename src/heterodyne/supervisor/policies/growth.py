"""By how much counters have grown: since the last look, and in the last minute. Pure."""

from collections import deque
from collections.abc import Mapping
from typing import Final

WINDOW_S: Final = 60.0

CountKey = tuple[str, tuple[str, ...]]  # a metric and the values of its labels
Counts = Mapping[CountKey, float]


class CountGrowth:
    """Of all workers together.

    While the numbers of a worker that has ended are put with the others they may be there twice for a moment, so the
    greatest that was seen is what counts: what seemed to be more then is made up for by what comes.
    """

    def __init__(self) -> None:
        self._greatest: dict[CountKey, float] = {}
        self._looks: deque[tuple[float, Counts]] = deque()

    def note(self, at: float, counted: Counts) -> dict[CountKey, float]:
        """One more look; what has grown since the one before, and since the beginning at the first."""
        grown = {key: now - self._greatest.get(key, 0.0) for key, now in counted.items()}
        grown = {key: amount for key, amount in grown.items() if amount > 0}
        if grown:
            self._greatest = {**self._greatest, **{key: counted[key] for key in grown}}
        self._looks.append((at, self._greatest))
        while len(self._looks) > 1 and self._looks[1][0] <= at - WINDOW_S:
            self._looks.popleft()
        return grown

    def last_minute(self) -> dict[CountKey, float]:
        """What has grown in the last minute, as far as that was looked at."""
        if not self._looks:
            return {}
        before, now = self._looks[0][1], self._looks[-1][1]
        return {key: amount for key, end in now.items() if (amount := end - before.get(key, 0.0)) > 0}
