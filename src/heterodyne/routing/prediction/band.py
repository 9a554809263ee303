"""Pure: how far from a prediction the truth lies, nine times out of ten.

Two quantiles of log(actual / predicted), each moved a little at every sample towards where it should be: no
distribution is assumed, and the band widens by itself where a pool behaves in a way that the prediction does not know.
"""

from math import exp, log, pow

TAIL = 0.05  # outside, on either side
PACE = 0.03  # how far one sample moves a quantile, in mean errors
ERROR_PACE = 0.02
SPREAD_PRIOR = 0.7  # log 2: before anything is known, half to twice
SPREAD_MIN = 0.01
SAMPLES_MIN = 30  # enough to guess the spread from the mean error, and to begin from there
SPREAD_OF_ERROR = 2.06  # where errors are normal, the quantile lies so many mean errors out
RATIO_MAX = 50.0
QUANTILE_LOGIT = 2 * log((1.0 - TAIL) / TAIL)  # a logistic curve is so many scales wide between the two quantiles
STEEPNESS_MAX = 30.0
ROOM_MAX = 1e6  # from this ratio on nothing is missed, and no power overflows


class Band:
    """Quantiles and the mean error they are learned with."""

    __slots__ = ("_above", "_below", "error", "high", "low", "middle", "samples", "steepness")

    def __init__(self) -> None:
        self.samples = 0
        self.error = SPREAD_PRIOR / 2  # mean of |log(actual / predicted)|
        self._below, self._above = -SPREAD_PRIOR, SPREAD_PRIOR
        self.low, self.high = exp(-SPREAD_PRIOR), exp(SPREAD_PRIOR)  # factors around a prediction
        self._settle()

    def miss(self, predicted_s: float, limit_s: float) -> float:
        """The chance that the truth is beyond a limit, by the logistic curve through both quantiles."""
        room = limit_s / (predicted_s * self.middle)
        return 0.0 if room > ROOM_MAX else 1.0 / (1.0 + pow(room, self.steepness))

    def learn(self, predicted_s: float, actual_s: float) -> None:
        """A prediction and what came of it."""
        if predicted_s <= 0.0 or actual_s <= 0.0:
            return
        off = log(min(max(actual_s / predicted_s, 1.0 / RATIO_MAX), RATIO_MAX))
        self.samples += 1
        # The first samples count for more: a mean from the start, a moving one later.
        self.error += max(ERROR_PACE, 1.0 / (self.samples + 1)) * (abs(off) - self.error)
        if self.samples == SAMPLES_MIN:
            self._above = SPREAD_OF_ERROR * self.error
            self._below = -self._above
        pace = PACE * max(self.error, SPREAD_MIN)
        self._above += pace * ((1.0 - TAIL) if off > self._above else -TAIL)
        self._below -= pace * ((1.0 - TAIL) if off < self._below else -TAIL)
        if self._above < self._below:
            self._above = self._below = (self._above + self._below) / 2
        self._settle()

    def _settle(self) -> None:
        self.low, self.high = exp(self._below), exp(self._above)
        self.middle = exp((self._below + self._above) / 2)
        width = self._above - self._below
        self.steepness = QUANTILE_LOGIT / width if width > QUANTILE_LOGIT / STEEPNESS_MAX else STEEPNESS_MAX

    @property
    def is_lost(self) -> bool:
        """Whether predictions are off by a factor of two as a rule, so that counting requests is the better guide."""
        return self.samples >= SAMPLES_MIN and self.error > 0.7
