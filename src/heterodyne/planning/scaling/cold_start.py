"""How long a replica takes from being asked for to its first request: as measured here, else as the operator says."""

from math import exp, log, sqrt
from statistics import fmean, median

from msgspec import Struct

from heterodyne.domain.start_time import StartTime

KEPT = 32  # measurements, the latest
TRUSTED = 4  # so many are worth more than what was said
LATE = 0.9  # the share of cold starts that is over by `late_s`
# As logarithms: how far off what was said is, how far cold starts spread until some were measured, worth so many, and
# how far from the median one counts: a start that went wrong says little of the next.
SAID_OFF, SPREAD, SPREAD_WORTH, FAR = 0.2, 0.1, 2.0, 0.7


class ColdStarts(Struct, frozen=True, kw_only=True):
    """Of one pool."""

    said_s: float
    measured_s: tuple[float, ...] = ()  # the oldest first

    def with_measured(self, more_s: tuple[float, ...]) -> "ColdStarts":
        """Some have ended."""
        return ColdStarts(said_s=self.said_s, measured_s=(*self.measured_s, *more_s)[-KEPT:]) if more_s else self

    @property
    def usual_s(self) -> float:
        """The median."""
        return self._quantile(0.5)

    @property
    def late_s(self) -> float:
        """What a plan should reckon with."""
        return self._quantile(LATE)

    @property
    def next(self) -> StartTime:
        """What is known of the next one: what was said, moved by each that was measured."""
        said = log(self.said_s)
        logs = [log(one) for one in self.measured_s if one > 0]
        middle = median(logs) if logs else said
        near = [min(middle + FAR, max(middle - FAR, one)) for one in logs]
        mean = fmean(near) if near else said
        squares = SPREAD_WORTH * SPREAD**2 + sum((one - mean) ** 2 for one in near)
        variance = squares / (SPREAD_WORTH + max(0, len(near) - 1))
        error = 1.0 / (1.0 / SAID_OFF**2 + len(near) / variance)  # of the usual one, squared
        usual = error * (said / SAID_OFF**2 + sum(near) / variance)
        return StartTime(usual_s=exp(usual), spread=sqrt(variance + error))

    def _quantile(self, share: float) -> float:
        known = sorted((*self.measured_s, *(self.said_s,) * max(0, TRUSTED - len(self.measured_s))))
        return known[min(len(known) - 1, int(share * len(known)))]
