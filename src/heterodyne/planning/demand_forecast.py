"""Demand of the next hours from that of past days: the usual of the same time of day, or the recent level.

Two days make a day usual: the median of the same ten minutes on each of them, scaled by how the last two hours compare
with theirs. With less there is only the recent level and a trend that dies down. The band comes from the errors that
the same rule made when it was asked at earlier moments, so it is as wide as the rule is bad here.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp, log
from statistics import fmean, median

from msgspec import Struct

STEP_S = 600
DAY_STEPS = 144
AHEAD_STEPS = 36
DAYS_MAX = 14
DAYS_USUAL = 2  # from so many on a time of day has a usual
RECENT_STEPS = 12  # that are compared with their usual
RATIO_HALF_STEPS = 36  # after so many, half of what set the last hours apart is gone
RATIO_MAX = 4.0
LEVEL_STEPS = 6
TREND_STEPS = 12
TREND_KEPT = 0.85  # of the trend from one step to the next
OUTSIDE = 0.05  # share of past errors beyond each end of the band
LEADS_ALIKE = 6  # steps ahead whose errors are judged together
ORIGINS_MAX = 120  # past moments that the rule is asked at
# Until the rule has a record of its own, it is taken to miss by a factor of three now and then.
PRIOR_ERRORS = (-log(3.0), log(3.0)) * 3
ONE_REQUEST = 1.0 / STEP_S  # so that nothing can be compared with nothing

Rule = Callable[[Sequence[float], int], float]  # the past, and how many steps ahead: 1 is the next


class DemandStep(Struct, frozen=True, kw_only=True):
    """Requests per second over one step that has not come yet."""

    at: int  # its beginning
    requests_per_s: float
    low: float
    high: float


class DemandForecast(Struct, frozen=True, kw_only=True):
    """The steps ahead, and in words what they rest on."""

    steps: tuple[DemandStep, ...]
    basis: str


def forecast(past: Sequence[float], *, ends_at: int) -> DemandForecast:
    """From requests per second by step, the oldest first and none missing; the last one ended at `ends_at`.

    The past begins where there first was a request: what was before that says nothing.
    """
    past = past[-DAYS_MAX * DAY_STEPS :]
    if not any(past):
        return DemandForecast(steps=(), basis="no forecast: no request has come yet")
    is_daily = len(past) >= DAYS_USUAL * DAY_STEPS
    rule, least = (_usual_scaled, DAYS_USUAL * DAY_STEPS) if is_daily else (_level_with_trend, 1)
    origins = _origins(len(past), least)
    errors = _errors(past, rule, origins)
    steps = []
    for lead in range(1, AHEAD_STEPS + 1):
        low, high = _band(errors[(lead - 1) // LEADS_ALIKE])
        expected = rule(past, lead)
        steps.append(
            DemandStep(
                at=ends_at + (lead - 1) * STEP_S,
                requests_per_s=expected,
                low=max(0.0, (expected + ONE_REQUEST) * exp(low) - ONE_REQUEST),
                high=(expected + ONE_REQUEST) * exp(high) - ONE_REQUEST,
            )
        )
    return DemandForecast(steps=tuple(steps), basis=_basis(len(past), len(origins), is_daily=is_daily))


def _usual_scaled(past: Sequence[float], lead: int) -> float:
    """The usual of that time, times what sets the last hours apart, which fades."""
    now = len(past)
    recent = fmean(past[-RECENT_STEPS:])
    usually = fmean(_usual(past, place) for place in range(now - RECENT_STEPS, now))
    kept: float = 0.5 ** (lead / RATIO_HALF_STEPS)
    usual = _usual(past, now - 1 + lead)
    if usually < ONE_REQUEST:  # nothing to take a ratio with
        return usual + max(0.0, recent - usually) * kept
    ratio = min(RATIO_MAX, max(1.0 / RATIO_MAX, recent / usually))
    return usual * float(ratio**kept)


def _usual(past: Sequence[float], place: int) -> float:
    """The median of the same time on the days before."""
    before = range(place - DAY_STEPS, -1, -DAY_STEPS)
    return median(past[one] for one in before if one < len(past))


def _level_with_trend(past: Sequence[float], lead: int) -> float:
    level = fmean(past[-LEVEL_STEPS:])
    ahead = TREND_KEPT * (1.0 - TREND_KEPT**lead) / (1.0 - TREND_KEPT)
    return max(0.0, level + _trend(past[-TREND_STEPS:]) * ahead)


def _trend(recent: Sequence[float]) -> float:
    """By how much each step is above the one before: the slope of the straight line through them."""
    if len(recent) < 3:
        return 0.0
    middle, mean = (len(recent) - 1) / 2, fmean(recent)
    spread = sum((place - middle) ** 2 for place in range(len(recent)))
    return sum((place - middle) * (value - mean) for place, value in enumerate(recent)) / spread


def _origins(steps: int, least: int) -> range:
    """Moments with enough before them for the rule and something after them to compare with, evenly spaced."""
    first = max(least, LEVEL_STEPS)
    return range(first, steps, max(1, (steps - first) // ORIGINS_MAX))


def _errors(past: Sequence[float], rule: Rule, origins: range) -> list[list[float]]:
    """How far off the rule was, as logarithms of actual over expected, by how far ahead it looked."""
    errors: list[list[float]] = [list(PRIOR_ERRORS) for _ in range(AHEAD_STEPS // LEADS_ALIKE)]
    for origin in origins:
        before = past[:origin]
        for lead in _leads(len(past) - origin):
            actual, expected = past[origin - 1 + lead], rule(before, lead)
            errors[(lead - 1) // LEADS_ALIKE].append(log((actual + ONE_REQUEST) / (expected + ONE_REQUEST)))
    return errors


def _leads(known: int) -> Iterator[int]:
    """Two of each group are enough."""
    return (lead for lead in range(1, min(known, AHEAD_STEPS) + 1) if lead % (LEADS_ALIKE // 2) == 0)


def _band(errors: list[float]) -> tuple[float, float]:
    ordered = sorted(errors)
    outside = int(OUTSIDE * len(ordered))
    return min(0.0, ordered[outside]), max(0.0, ordered[-1 - outside])


def _basis(steps: int, origins: int, *, is_daily: bool) -> str:
    checked = f"the band is from {origins} earlier forecasts" if origins else "the band is a guess"
    if is_daily:
        days = steps / DAY_STEPS
        return f"the usual of the same time over {days:.1f} days, scaled by the last two hours; {checked}"
    hours = steps * STEP_S / 3600
    return f"the level of the last hour with a damped trend, of {hours:.1f} hours of history; {checked}"
