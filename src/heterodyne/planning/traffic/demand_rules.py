"""Rules that say what demand will be some steps from now: by its level and trend, or by the usual of that time."""

from collections.abc import Sequence
from statistics import fmean, median

STEP_S = 600
DAY_STEPS = 144
RECENT_STEPS = 12  # that are compared with their usual
RATIO_HALF_STEPS = 36  # after so many, half of what set the last hours apart is gone
RATIO_MAX = 4.0
LEVEL_STEPS = 6
TREND_STEPS = 12
TREND_KEPT = 0.85  # of the trend from one step to the next
ONE_REQUEST = 1.0 / STEP_S  # so that nothing can be compared with nothing


def usual_scaled(past: Sequence[float], lead: int) -> float:
    """The usual of that time of day, times what sets the last hours apart, which fades."""
    return _scaled(past, lead, DAY_STEPS)


def week_scaled(past: Sequence[float], lead: int) -> float:
    """The same with the usual of that time of the week."""
    return _scaled(past, lead, 7 * DAY_STEPS)


def level_with_trend(past: Sequence[float], lead: int) -> float:
    """The last hour, and the trend of the last two, which dies down."""
    level = fmean(past[-LEVEL_STEPS:])
    ahead = TREND_KEPT * (1.0 - TREND_KEPT**lead) / (1.0 - TREND_KEPT)
    return max(0.0, level + _trend(past[-TREND_STEPS:]) * ahead)


def _scaled(past: Sequence[float], lead: int, period: int) -> float:
    now = len(past)
    recent = fmean(past[-RECENT_STEPS:])
    usually = fmean(_usual(past, place, period) for place in range(now - RECENT_STEPS, now))
    kept: float = 0.5 ** (lead / RATIO_HALF_STEPS)
    usual = _usual(past, now - 1 + lead, period)
    if usually < ONE_REQUEST:  # nothing to take a ratio with
        return usual + max(0.0, recent - usually) * kept
    ratio = min(RATIO_MAX, max(1.0 / RATIO_MAX, recent / usually))
    return usual * float(ratio**kept)


def _usual(past: Sequence[float], place: int, period: int) -> float:
    """The median of the same time in the periods before."""
    before = range(place - period, -1, -period)
    return median(past[one] for one in before if one < len(past))


def _trend(recent: Sequence[float]) -> float:
    """By how much each step is above the one before: the slope of the straight line through them."""
    if len(recent) < 3:
        return 0.0
    middle, mean = (len(recent) - 1) / 2, fmean(recent)
    spread = sum((place - middle) ** 2 for place in range(len(recent)))
    return sum((place - middle) * (value - mean) for place, value in enumerate(recent)) / spread
