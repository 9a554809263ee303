"""How long a replica takes to start, and what is left of a start that is under way."""

from math import log

from msgspec import Struct

SPREAD_MIN, SPREAD_MAX = 0.01, 1.0
HALVINGS = 40


class StartTime(Struct, frozen=True, kw_only=True):
    """A log-normal time."""

    usual_s: float  # the median
    spread: float  # of its logarithm

    def left_s(self, passed_s: float) -> float:
        """The wait that is likeliest to be right within a small share of itself, after `passed_s` without an end.

        It is where the density of the logarithm of what is left is highest: at first the median less what has passed,
        and for a start that is late some seconds more, however late it is.
        """
        if passed_s <= 0:
            return self.usual_s - passed_s
        variance = min(SPREAD_MAX, max(SPREAD_MIN, self.spread)) ** 2
        low_s, high_s = 0.0, self.usual_s + passed_s
        for _ in range(HALVINGS):  # one side falls with what is left, and the other rises
            middle_s = 0.5 * (low_s + high_s)
            if passed_s * variance > middle_s * log((passed_s + middle_s) / self.usual_s):
                low_s = middle_s
            else:
                high_s = middle_s
        return high_s
