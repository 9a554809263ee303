"""Numbers as they were at each look of the last half hour: how much a counter has grown, what a gauge was then."""

from collections import deque
from collections.abc import Mapping
from itertools import pairwise

RECENT_S = 1800.0
SAMPLES_MAX = 200


class RecentSamples:
    """Belongs to one owner."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Mapping[str, float]]] = deque(maxlen=SAMPLES_MAX)

    def note(self, at: float, numbers: Mapping[str, float]) -> None:
        """One more look."""
        self._samples.append((at, numbers))
        while self._samples[0][0] < at - RECENT_S:
            self._samples.popleft()

    def at(self, then: float) -> Mapping[str, float] | None:
        """The last look no later than this; None: there was none."""
        return next((numbers for at, numbers in reversed(self._samples) if at <= then), None)

    def growth(self, name: str) -> int:
        """By how much a counter has grown; one that began anew has grown by what it says."""
        seen = [numbers[name] for _, numbers in self._samples if name in numbers]
        return int(sum(after - before if after >= before else after for before, after in pairwise(seen)))
