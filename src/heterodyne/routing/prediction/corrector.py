"""Pure: three factors by which a prior is off, learned by recursive least squares that forget.

A time is thought of as the sum of three parts. Each part's factor begins at 1 and moves with every time that is seen.
What counts is the relative error, so that long requests do not outvote short ones.
"""

from math import log

PROCESS_NOISE = 0.03**2  # relative, squared: how far a factor may move from one request to the next
FACTOR_MIN, FACTOR_MAX = 0.02, 50.0
SURPRISE_MAX = log(2.0)  # one sample is believed no further: what delays one request is not the pool's pace

SCATTER_PACE = 0.02


class Corrector:
    """Factors and how sure they are; a 3 x 3 covariance written out, since this runs for every request.

    `kinship` is how far a sample draws the factors to each other: parts that cannot be told apart are slow together.
    """

    __slots__ = (
        "_coupling",
        "_doubt_max",
        "_p00",
        "_p01",
        "_p02",
        "_p11",
        "_p12",
        "_p22",
        "_scatter",
        "_scatter_least",
        "first",
        "second",
        "third",
    )

    def __init__(self, doubt: float, *, coupling: float, scatter: float) -> None:
        self.first = self.second = self.third = 1.0
        self._coupling = coupling
        self._p00 = self._p11 = self._p22 = doubt * doubt
        self._p01 = self._p02 = self._p12 = 0.0
        self._doubt_max = doubt * doubt
        self._scatter = self._scatter_least = scatter * scatter

    def learn(self, first_s: float, second_s: float, third_s: float, actual_s: float) -> None:
        """The sum of these parts turned out like this."""
        expected_s = self.first * first_s + self.second * second_s + self.third * third_s
        if expected_s <= 0.0 or actual_s <= 0.0:
            return
        x0, x1, x2 = first_s / expected_s, second_s / expected_s, third_s / expected_s
        # Twice as long and half as long are as far off: delays would outweigh everything else otherwise.
        surprise = min(max(log(actual_s / expected_s), -SURPRISE_MAX), SURPRISE_MAX)
        self._scatter += SCATTER_PACE * (surprise * surprise - self._scatter)
        p00, p01, p02, p11, p12, p22 = self._p00, self._p01, self._p02, self._p11, self._p12, self._p22
        g0 = p00 * x0 + p01 * x1 + p02 * x2
        g1 = p01 * x0 + p11 * x1 + p12 * x2
        g2 = p02 * x0 + p12 * x1 + p22 * x2
        scatter = self._scatter if self._scatter > self._scatter_least else self._scatter_least
        scale = 1.0 / (scatter + x0 * g0 + x1 * g1 + x2 * g2)
        self._move(g0 * surprise * scale, g1 * surprise * scale, g2 * surprise * scale)
        # Factors wander, so doubt grows again; not for ever where a part is never seen, or one odd sample settles it.
        most = self._doubt_max
        self._p00 = p00 - g0 * g0 * scale + (PROCESS_NOISE if p00 < most else 0.0)
        self._p11 = p11 - g1 * g1 * scale + (PROCESS_NOISE if p11 < most else 0.0)
        self._p22 = p22 - g2 * g2 * scale + (PROCESS_NOISE if p22 < most else 0.0)
        self._p01 = p01 - g0 * g1 * scale
        self._p02 = p02 - g0 * g2 * scale
        self._p12 = p12 - g1 * g2 * scale

    def _move(self, by0: float, by1: float, by2: float) -> None:
        first, second, third = self.first + by0, self.second + by1, self.third + by2
        apart = 1.0 - self._coupling
        together = self._coupling * (first + second + third) / 3
        self.first = min(max(first * apart + together, FACTOR_MIN), FACTOR_MAX)
        self.second = min(max(second * apart + together, FACTOR_MIN), FACTOR_MAX)
        self.third = min(max(third * apart + together, FACTOR_MIN), FACTOR_MAX)
