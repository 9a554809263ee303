"""How many things a window of time has seen, by two numbers: those of this window and of the one before.

The one before counts as far as the window still reaches into it, as if its things had come evenly.
"""


class WindowedCount:
    """One per thing that is counted."""

    __slots__ = ("_before", "_began_at", "_now", "_window_s")

    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._began_at = 0.0
        self._now = 0
        self._before = 0

    def add(self, at: float) -> float:
        """One more; how many there are."""
        self._turn(at)
        self._now += 1
        return self.count(at)

    def count(self, at: float) -> float:
        """How many there are."""
        self._turn(at)
        left = 1.0 - (at - self._began_at) / self._window_s
        return self._now + self._before * min(1.0, max(0.0, left))

    def _turn(self, at: float) -> None:
        passed = (at - self._began_at) / self._window_s
        if passed < 1:
            return
        self._before = self._now if passed < 2 else 0
        self._now = 0
        self._began_at = at if passed >= 2 else self._began_at + self._window_s
