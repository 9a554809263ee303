"""Pure: how far from a prediction the measured value lies: the span that is shown, and the risk that is decided by.

The span is of the answers that came last, as narrow as they allow. The risk goes by quantiles further out that move
slowly: what decides should neither jump with each answer nor take a limit that is near for one that is certainly kept.
"""

from bisect import bisect_left, insort
from collections import deque
from math import exp, log, pow
from typing import Final

# Of the span.
TAIL: Final = 0.1  # outside, on either side
WINDOW_MIN: Final = 10  # samples that its ends are of
WINDOW_MAX: Final = 100
SPREAD_PRIOR: Final = 0.52  # before anything is known, 0.6 to 1.7 times as long
SPREAD_OF_DOUBT: Final = 1.3  # further where physics is doubted: eight in ten of a normal curve are within
TAIL_LOGIT: Final = log((1.0 - TAIL) / TAIL)
WIDTH_PACE: Final = 0.05
WIDTH_LEAST: Final = log(0.5)
WIDTH_MOST: Final = log(8.0)

# Of the risk.
RISK_TAIL: Final = 0.05  # outside, on either side
RISK_PRIOR: Final = 0.7  # log 2: before anything is known, half to twice
PACE: Final = 0.03  # how far one sample moves a quantile, in mean errors
QUIET_MAX: Final = 3.0 / RISK_TAIL  # samples that all lie within by chance; more show that a quantile is too far out
ERROR_PACE: Final = 0.02
SPREAD_MIN: Final = 0.01
SAMPLES_MIN: Final = 30  # enough to guess the spread from the mean error, and to begin from there
SPREAD_OF_ERROR: Final = 2.06  # where errors are normal, the quantile lies so many mean errors out
SETTLE_MASK: Final = 3  # later the ends are worked out for every fourth sample: one alone hardly moves them
RATIO_MAX: Final = 50.0
QUANTILE_LOGIT: Final = 2 * log((1.0 - RISK_TAIL) / RISK_TAIL)  # scales of a logistic curve between its quantiles
STEEPNESS_MAX: Final = 30.0
ROOM_MAX: Final = 1e6  # from this ratio on nothing is missed, and no power overflows
LOST_ERROR: Final = 0.7


class Band:
    """Quantiles of log(actual / predicted), without assuming a distribution; three per pool.

    The span's ends are quantiles of a window that begins with a few made-up samples far apart, and grows with half of
    what has come, so that what was foretold while little was known is soon forgotten. Answers end long after they were
    foretold, and errors come in runs: the span is as much wider as what fell outside when it was foretold asks for.
    """

    __slots__ = (
        *("_above", "_age", "_below", "_offs", "_ordered", "_quiet_above", "_quiet_below", "_width"),
        *("covered", "error", "high", "low", "middle", "samples", "steepness"),
    )

    def __init__(self, doubt: float = 0.0) -> None:
        spread = max(SPREAD_PRIOR, SPREAD_OF_DOUBT * doubt)
        self.samples = 0
        self.covered = 0  # of these, within the span that was told
        self.error = RISK_PRIOR / 2  # mean of |log(actual / predicted)|
        self._below, self._above = -RISK_PRIOR, RISK_PRIOR
        self._quiet_below = self._quiet_above = 0.0  # samples since the last one beyond each
        self._age = 2 * WINDOW_MIN  # samples that the window is half of
        self._width = 0.0  # log of how much wider than the window's quantiles the span has to be
        self._ordered = [spread * _quantile(number) for number in range(WINDOW_MIN)]
        self._offs = deque(sorted(self._ordered, key=abs))  # the narrowest are forgotten first
        self._settle()

    def miss(self, predicted_s: float, limit_s: float) -> float:
        """The chance that the measured value is beyond a limit, by the logistic curve through both quantiles."""
        room = limit_s / (predicted_s * self.middle)
        return 0.0 if room > ROOM_MAX else 1.0 / (1.0 + pow(room, self.steepness))

    def learn(self, predicted_s: float, actual_s: float, low_s: float, high_s: float) -> None:
        """A prediction, between what bounds it was thought to be, and what came of it."""
        if predicted_s <= 0.0 or actual_s <= 0.0:
            return
        off = log(min(max(actual_s / predicted_s, 1.0 / RATIO_MAX), RATIO_MAX))
        self.samples += 1
        # The first samples count for more: a mean from the start, a moving one later.
        self.error += max(ERROR_PACE, 1.0 / (self.samples + 1)) * (abs(off) - self.error)
        self._learn_risk(off)
        if low_s <= actual_s <= high_s:
            self.covered += 1
            width = self._width - WIDTH_PACE * 2 * TAIL
        else:
            width = self._width + WIDTH_PACE * (1.0 - 2 * TAIL)
        self._width = min(max(width, WIDTH_LEAST), WIDTH_MOST)
        self._age += 1
        offs, ordered = self._offs, self._ordered
        offs.append(off)
        insort(ordered, off)
        if len(offs) > WINDOW_MAX or 2 * len(offs) > self._age:
            del ordered[bisect_left(ordered, offs.popleft())]
        if self.samples <= SAMPLES_MIN or not self.samples & SETTLE_MASK:
            self._settle()

    def _learn_risk(self, off: float) -> None:
        if self.samples == SAMPLES_MIN:
            self._above = SPREAD_OF_ERROR * self.error
            self._below = -self._above
        pace = PACE * max(self.error, SPREAD_MIN)
        if off > self._above:
            self._above += pace * (1.0 - RISK_TAIL)
            self._quiet_above = 0.0
        else:
            self._above -= pace * _drawn_in(self._quiet_above)
            self._quiet_above += 1.0
        if off < self._below:
            self._below -= pace * (1.0 - RISK_TAIL)
            self._quiet_below = 0.0
        else:
            self._below += pace * _drawn_in(self._quiet_below)
            self._quiet_below += 1.0
        if self._above < self._below:
            self._above = self._below = (self._above + self._below) / 2

    def _settle(self) -> None:
        self.middle = exp((self._below + self._above) / 2)
        width = self._above - self._below
        self.steepness = QUANTILE_LOGIT / width if width > QUANTILE_LOGIT / STEEPNESS_MAX else STEEPNESS_MAX
        ordered = self._ordered
        # The rank that the next sample is beyond as often as it should be, counted from either end.
        rank = TAIL * (len(ordered) + 1)
        whole = int(rank)
        part = rank - whole
        below = ordered[whole - 1] + part * (ordered[whole] - ordered[whole - 1])
        above = ordered[-whole] - part * (ordered[-whole] - ordered[-whole - 1])
        middle, half = (below + above) / 2, (above - below) / 2 * exp(self._width)
        self.low, self.high = exp(middle - half), exp(middle + half)

    @property
    def is_lost(self) -> bool:
        """Whether predictions are off by a factor of two as a rule, so that counting requests is the better guide."""
        return self.samples >= SAMPLES_MIN and self.error > LOST_ERROR


def _drawn_in(quiet: float) -> float:
    """How far a quantile moves inwards, after so many samples that did not reach it: twice as fast once that is no
    chance any more, or what one bad minute has widened would take a quarter of an hour to narrow."""
    return (
        RISK_TAIL
        if quiet <= QUIET_MAX
        else min(2.0 * RISK_TAIL, RISK_TAIL + RISK_TAIL * RISK_TAIL * (quiet - QUIET_MAX))
    )


def _quantile(number: int) -> float:
    """Of a logistic curve, one of `WINDOW_MIN` evenly likely ones; the one that the span ends at is 1."""
    share = (number + 0.5) / WINDOW_MIN
    return log(share / (1.0 - share)) / TAIL_LOGIT
