"""Pure: how much interactive work one model has, and had at most: what batch work must leave free."""

from typing import Final

HALF_LIFE_S: Final = 60.0  # of the memory of how much interactive work there was, and of that of
LATELY_S: Final = 5.0  # the last seconds


class Reserve:
    """How much interactive work one model has, and had at most: what batch work must leave free."""

    __slots__ = ("_at_s", "_lately", "_lately_at_s", "_most", "now")

    def __init__(self) -> None:
        self.now = 0  # interactive requests in flight
        self._most = 0.0
        self._at_s = 0.0
        self._lately = 0.0  # as batch work has seen it
        self._lately_at_s = 0.0

    def start(self, now_s: float) -> None:
        """One more."""
        self.now += 1
        if self.now > self._most:
            self._most, self._at_s = float(self.now), now_s

    def end(self) -> None:
        """One fewer."""
        self.now -= 1

    def to_come(self, now_s: float) -> float:
        """Interactive requests that are not here and may be soon."""
        self._most *= _left(now_s - self._at_s, HALF_LIFE_S)
        self._at_s = now_s
        return max(0.0, self._most - self.now)

    def lately(self, now_s: float) -> float:
        """The most there were in the last seconds: those that have just ended are followed by others."""
        faded = self._lately * _left(now_s - self._lately_at_s, LATELY_S)
        self._lately, self._lately_at_s = max(float(self.now), faded), now_s
        return self._lately


def _left(seconds: float, half_life_s: float) -> float:
    """Of a memory, after so long."""
    return 1.0 if seconds <= 0.0 else pow(0.5, seconds / half_life_s)
