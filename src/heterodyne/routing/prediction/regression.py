"""Pure: what each part of a time costs, from a prior and from every time that was measured: a Kalman filter that is
bounded, is not thrown by what is odd, and begins to doubt itself where it is wrong in one direction for a while.

A time is the sum of four amounts, each at a cost of its own: a step's fixed part, its sequences, their context, and
prompts in between. What counts is how far off the sum is in proportion, so that long times do not outvote short ones:
both sides are divided by the geometric mean of what was expected and what came, and twice as long is then as far off
as half as long. Costs enter linearly, so that an engine whose costs are ten times those of the prior is found in a few
dozen samples. The prior is one of the shape too: at first all costs are thought to be off together rather than apart.
"""

from math import sqrt
from typing import Final

Four = tuple[float, float, float, float]

TOGETHER: Final = 1.0  # of the doubt: how far all costs may be off together
APART: Final = 0.7  # of the doubt: how far each of them may be off alone
DRIFT: Final = 0.02**2  # relative, squared: how far a cost may move alone from one sample to the next
DOUBT_MAX: Final = 1.25  # of a cost, relative, however often it may have moved without being seen
DRIFT_MAX: Final = 1.0 / DRIFT  # variances of a drift: doubt grows no further by drifting than a whole cost
LEAST_S: Final = 1e-9  # below this nothing is measured
RATIO_MAX: Final = 1e3  # a time that is further off says no more than that
CLIP: Final = 2.0  # deviations that one sample is believed to be off, at most
NOISE_PACE: Final = 0.03
NOISE_MIN: Final = 0.03
LEAN_PACE: Final = 0.2
LEAN_MAX: Final = 0.8  # deviations: where samples scatter evenly the moving mean is beyond it about once in a hundred
SLEEP: Final = 5.0  # samples that show what such doubt has led to, before there is more of it


class Regression:
    """Costs of four amounts, with their covariance written out, since this runs for every request; two per pool."""

    __slots__ = (
        *("_floors", "_lean", "_least", "_most", "_noise", "_prior", "_pull", "_quiet", "_regime_doubt"),
        *("_p00", "_p01", "_p02", "_p03", "_p11", "_p12", "_p13", "_p22", "_p23", "_p33"),
        *("first", "fourth", "second", "third"),
    )

    def __init__(
        self,
        costs: Four,
        *,
        floors: Four,
        least: Four,
        most: Four,
        doubt: float,
        noise: float,
        pull: float,
        regime_doubt: float,
    ) -> None:
        """`doubt` is how far off costs may be, relative; `floors` are what it is relative to where a cost is less,
        `least` and `most` the bounds within which costs stay, `noise` the relative scatter of one time, and `pull` how
        far each sample draws costs to the shape of the prior: parts that cannot be told apart are slow together.
        `regime_doubt` is how far costs may have moved where it was wrong in one direction for a while."""
        self.first, self.second, self.third, self.fourth = costs
        self._prior, self._pull, self._regime_doubt = costs, pull, regime_doubt
        self._floors, self._least, self._most = floors, least, most
        self._p00 = self._p01 = self._p02 = self._p03 = self._p11 = self._p12 = self._p13 = 0.0
        self._p22 = self._p23 = self._p33 = 0.0
        self._noise = noise * noise
        self._lean = 0.0  # moving mean of how far off the last samples were, in deviations
        self._quiet = 0.0  # samples until it may doubt itself again
        self._widen(TOGETHER * doubt, APART * doubt)

    def expect(self, first: float, second: float, third: float, fourth: float) -> float:
        """What so much of everything takes."""
        return self.first * first + self.second * second + self.third * third + self.fourth * fourth

    def begin_from(self, costs: Four) -> None:
        """Go on from these, as far as they are within bounds."""
        least, most = self._least, self._most
        self.first = min(max(costs[0], least[0]), most[0])
        self.second = min(max(costs[1], least[1]), most[1])
        self.third = min(max(costs[2], least[2]), most[2])
        self.fourth = min(max(costs[3], least[3]), most[3])

    def learn(self, first: float, second: float, third: float, fourth: float, actual_s: float) -> None:
        """So much of everything took this long."""
        expected_s = self.first * first + self.second * second + self.third * third + self.fourth * fourth
        if expected_s < LEAST_S or actual_s <= 0.0:
            return
        actual_s = min(max(actual_s, expected_s / RATIO_MAX), expected_s * RATIO_MAX)
        scale = 1.0 / sqrt(expected_s * actual_s)
        x0, x1, x2, x3 = first * scale, second * scale, third * scale, fourth * scale
        p00, p01, p02, p03, p11 = self._p00, self._p01, self._p02, self._p03, self._p11
        p12, p13, p22, p23, p33 = self._p12, self._p13, self._p22, self._p23, self._p33
        g0 = p00 * x0 + p01 * x1 + p02 * x2 + p03 * x3
        g1 = p01 * x0 + p11 * x1 + p12 * x2 + p13 * x3
        g2 = p02 * x0 + p12 * x1 + p22 * x2 + p23 * x3
        g3 = p03 * x0 + p13 * x1 + p23 * x2 + p33 * x3
        noise = self._noise
        gain = 1.0 / (noise + x0 * g0 + x1 * g1 + x2 * g2 + x3 * g3)
        root = sqrt(gain)
        deviations = min(max((actual_s - expected_s) * scale * root, -CLIP), CLIP)
        # What the doubt about costs explains is not scatter.
        noise += NOISE_PACE * noise * (deviations * deviations - 1.0)
        self._noise = noise if noise > NOISE_MIN * NOISE_MIN else NOISE_MIN * NOISE_MIN
        by, pull = deviations * root, self._pull
        # Drawn to what the whole is off by, which leaves the sum as it was.
        prior0, prior1, prior2, prior3 = self._prior
        like = pull * expected_s / (prior0 * first + prior1 * second + prior2 * third + prior3 * fourth)
        rest = 1.0 - pull
        # Costs drift, so doubt grows again; not for ever where a part is never seen, or one odd sample settles it.
        least0, least1, least2, least3 = self._least
        most0, most1, most2, most3 = self._most
        floor0, floor1, floor2, floor3 = self._floors
        cost = rest * self.first + like * prior0 + g0 * by
        self.first = cost = least0 if cost < least0 else (most0 if cost > most0 else cost)
        drift = DRIFT * (cost * cost if cost > floor0 else floor0 * floor0)
        self._p00 = p00 - g0 * g0 * gain + (drift if p00 < DRIFT_MAX * drift else 0.0)
        cost = rest * self.second + like * prior1 + g1 * by
        self.second = cost = least1 if cost < least1 else (most1 if cost > most1 else cost)
        drift = DRIFT * (cost * cost if cost > floor1 else floor1 * floor1)
        self._p11 = p11 - g1 * g1 * gain + (drift if p11 < DRIFT_MAX * drift else 0.0)
        cost = rest * self.third + like * prior2 + g2 * by
        self.third = cost = least2 if cost < least2 else (most2 if cost > most2 else cost)
        drift = DRIFT * (cost * cost if cost > floor2 else floor2 * floor2)
        self._p22 = p22 - g2 * g2 * gain + (drift if p22 < DRIFT_MAX * drift else 0.0)
        cost = rest * self.fourth + like * prior3 + g3 * by
        self.fourth = cost = least3 if cost < least3 else (most3 if cost > most3 else cost)
        drift = DRIFT * (cost * cost if cost > floor3 else floor3 * floor3)
        self._p33 = p33 - g3 * g3 * gain + (drift if p33 < DRIFT_MAX * drift else 0.0)
        self._p01, self._p02, self._p03 = p01 - g0 * g1 * gain, p02 - g0 * g2 * gain, p03 - g0 * g3 * gain
        self._p12, self._p13, self._p23 = p12 - g1 * g2 * gain, p13 - g1 * g3 * gain, p23 - g2 * g3 * gain
        self._lean = lean = self._lean + LEAN_PACE * (deviations - self._lean)
        self._quiet -= 1.0
        if (lean > LEAN_MAX or lean < -LEAN_MAX) and self._quiet <= 0.0:
            self._quiet = SLEEP
            self._widen(TOGETHER * self._regime_doubt, APART * self._regime_doubt)

    def _widen(self, together: float, apart: float) -> None:
        """Costs may be off by more than was thought, all of them together and each alone."""
        floors = self._floors
        s0, s1, s2, s3 = (
            max(self.first, floors[0]),
            max(self.second, floors[1]),
            max(self.third, floors[2]),
            max(self.fourth, floors[3]),
        )
        both, one = together * together + apart * apart, together * together
        self._p00 += both * s0 * s0
        self._p11 += both * s1 * s1
        self._p22 += both * s2 * s2
        self._p33 += both * s3 * s3
        self._p01 += one * s0 * s1
        self._p02 += one * s0 * s2
        self._p03 += one * s0 * s3
        self._p12 += one * s1 * s2
        self._p13 += one * s1 * s3
        self._p23 += one * s2 * s3
        most = max(DOUBT_MAX, sqrt(both))
        t0, t1 = _shrink(self._p00, most * s0), _shrink(self._p11, most * s1)
        t2, t3 = _shrink(self._p22, most * s2), _shrink(self._p33, most * s3)
        self._p00, self._p11 = self._p00 * t0 * t0, self._p11 * t1 * t1
        self._p22, self._p33 = self._p22 * t2 * t2, self._p33 * t3 * t3
        self._p01, self._p02, self._p03 = self._p01 * t0 * t1, self._p02 * t0 * t2, self._p03 * t0 * t3
        self._p12, self._p13, self._p23 = self._p12 * t1 * t2, self._p13 * t1 * t3, self._p23 * t2 * t3


def _shrink(variance: float, most: float) -> float:
    """The factor by which a deviation has to be less, so that it is no more than this."""
    return 1.0 if variance <= most * most else most / sqrt(variance)
