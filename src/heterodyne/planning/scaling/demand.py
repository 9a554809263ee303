"""The fast half: demand as it is now, and as it will be when a replica that is asked for now is ready.

What came in the last seconds is mostly chance, what came in the last minutes is mostly past. Several windows are asked
for the demand that they prove (their mean less its error), and the highest is believed: a flash crowd shows in
the shortest, a slow rise in the longest. A step or a bend that is beyond chance is believed for all of it, and what
came before it says nothing any more. Else a straight line through the last minutes says where it goes, unless a single
step explains them better: a step does not go on.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from msgspec import Struct

from heterodyne.planning.scaling.shape import LoadSample, last_change

WINDOWS = ((20.0, 2.0), (40.0, 2.0), (80.0, 2.0), (160.0, 1.5), (320.0, 1.0))  # seconds, and errors of their mean
WATCHED_S = 300.0  # before so long, a mean is no more than what it proves
LEVEL_S = 900.0  # the window whose mean is taken as it is, and whose line is the trend
FALLING_S = 80.0  # longer windows say what a fall has left behind
SURE_TREND = 1.0
GOES_ON = 0.4  # times as long as it has lasted, a rise is taken to go on
DISPERSION_MIN, DISPERSION_MAX = 1.0, 12.0  # of usual requests: variance over mean
LINE_SAMPLES_MIN = 12
STEP_PENALTY = 1.07  # on what a step leaves over, as it may choose its moment


class RecentDemand(Struct, frozen=True, kw_only=True):
    """Usual requests a second."""

    now: float  # that the last minutes prove
    mean: float  # of the last minutes
    slope: float = 0.0  # a second; 0: no trend is proven
    error: float = 0.0  # of the mean
    lasted_s: float = LEVEL_S  # so long demand has gone the way that it goes
    has_fallen: bool = False  # beyond doubt

    def ahead(self, seconds: float) -> float:
        """What a rise makes of it; a young one is not taken to go on for long. A fall is awaited."""
        return self.now + max(0.0, self.slope) * min(seconds, GOES_ON * self.lasted_s)


def demand_of(samples: Sequence[LoadSample]) -> RecentDemand:
    """Of the samples kept, the oldest first."""
    if not samples:
        return RecentDemand(now=0.0, mean=0.0)
    dispersion = _dispersion(samples)
    change = last_change(samples, dispersion)
    if change is None:
        return _steady(samples, dispersion)
    since = samples[change.place :]
    mean, span_s = _mean(since, LEVEL_S)
    slope = _less(change.slope, change.slope_error) if change.slope else _slope(since)
    return RecentDemand(
        now=max(change.level, _proven(since, dispersion, FALLING_S if change.slope < 0 else LEVEL_S)),
        mean=mean,
        slope=slope,
        error=sqrt(dispersion * mean / span_s),
        lasted_s=change.lasted_s,
        has_fallen=not change.is_up,
    )


def _steady(samples: Sequence[LoadSample], dispersion: float) -> RecentDemand:
    """No change is beyond chance; a slow one may still be a line."""
    mean, span_s = _mean(samples, LEVEL_S)
    error = sqrt(dispersion * mean / span_s)
    slope = _slope(samples)
    level = mean - (0.0 if span_s > WATCHED_S else error) + slope * span_s / 2
    return RecentDemand(
        now=max(level, _proven(samples, dispersion)),
        mean=mean,
        slope=slope,
        error=error,
        has_fallen=slope < 0,
    )


def _proven(samples: Sequence[LoadSample], dispersion: float, longest_s: float = LEVEL_S) -> float:
    """The highest demand that a window proves."""
    proven = 0.0
    for window_s, errors in WINDOWS:
        if window_s > longest_s:
            break
        rate, width_s = _mean(samples, window_s)
        proven = max(proven, rate - errors * sqrt(dispersion * rate / width_s))
    return proven


def _less(slope: float, error: float) -> float:
    """What of it is proven."""
    return max(0.0, slope - SURE_TREND * error) + min(0.0, slope + SURE_TREND * error)


def kept(samples: tuple[LoadSample, ...], sample: LoadSample) -> tuple[LoadSample, ...]:
    """With one more, less those that are too old."""
    first = 0
    while first < len(samples) and samples[first].at_s < sample.at_s - LEVEL_S:
        first += 1
    return (*samples[first:], sample)


def _mean(samples: Sequence[LoadSample], window_s: float) -> tuple[float, float]:
    """A second, and over how many."""
    since_s = samples[-1].at_s - window_s
    total = span_s = 0.0
    for one in reversed(samples):
        if span_s and one.at_s <= since_s:
            break
        total += one.requests
        span_s += one.span_s
    return total / span_s, span_s


def _dispersion(samples: Sequence[LoadSample]) -> float:
    """From the differences of neighbours, so that a trend is no chance; 2 where nothing is known."""
    total = sum(one.requests for one in samples)
    if len(samples) < LINE_SAMPLES_MIN or not total:
        return 2.0
    squares = sum((after.requests - before.requests) ** 2 for before, after in pairwise(samples))
    return min(DISPERSION_MAX, max(DISPERSION_MIN, 0.5 * squares / (len(samples) - 1) / (total / len(samples))))


def _slope(samples: Sequence[LoadSample]) -> float:
    """Of the straight line, less its error; 0 where it proves nothing or one step fits better."""
    since_s = samples[-1].at_s - LEVEL_S
    recent = [one for one in samples if one.at_s > since_s]
    count = len(recent)
    if count < LINE_SAMPLES_MIN:
        return 0.0
    times = [one.at_s for one in recent]
    rates = [one.requests / one.span_s for one in recent]
    time, rate = sum(times) / count, sum(rates) / count
    spread = sum((one - time) ** 2 for one in times)
    slope = sum((at - time) * (one - rate) for at, one in zip(times, rates, strict=True)) / spread
    line = sum((one - rate - slope * (at - time)) ** 2 for at, one in zip(times, rates, strict=True))
    if STEP_PENALTY * _step_error(rates) < line:
        return 0.0
    error = sqrt(line / (count - 2) / spread)
    return _less(slope, error)


def _step_error(rates: Sequence[float]) -> float:
    """The squares that are left when everything before some moment has one mean, and everything after it another."""
    whole, squares = sum(rates), sum(one * one for one in rates)
    before, best = 0.0, squares
    for count, one in enumerate(rates[:-1], 1):
        before += one
        after = whole - before
        best = min(best, squares - before * before / count - after * after / (len(rates) - count))
    return best
