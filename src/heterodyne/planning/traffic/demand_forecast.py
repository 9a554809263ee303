"""Demand of the next hours from that of past days: the usual of the same time of day, or the recent level.

Two days make a day usual: the median of the same ten minutes on each of them, scaled by how the last two hours compare
with theirs. With less there is only the recent level and a trend that dies down. Both know whole steps alone, so what
they say begins where demand is now: by as much as the present differs from what the rule expects of it, the steps ahead
differ too, less and less where a day is usual. The band comes from the errors that the same rule made when it was asked
at earlier moments, so it is as wide as the rule is bad here.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp, log

from msgspec import Struct

from heterodyne.planning.traffic.demand_rules import (
    DAY_STEPS,
    LEVEL_STEPS,
    ONE_REQUEST,
    RATIO_HALF_STEPS,
    STEP_S,
    level_with_trend,
    usual_scaled,
)

AHEAD_STEPS = 36
DAYS_MAX = 14
DAYS_USUAL = 2  # from so many on a time of day has a usual
OUTSIDE = 0.05  # share of past errors beyond each end of the band
LEADS_ALIKE = 6  # steps ahead whose errors are judged together
ORIGINS_MAX = 120  # past moments that the rule is asked at
ORIGINS_TRUSTED = 6  # so many make a record that something may rest on
# Until the rule has a record of its own, it is taken to miss by a factor of three now and then.
PRIOR_ERRORS = (-log(3.0), log(3.0)) * 3

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
    is_credible: bool = False  # whether the rule has a record here; without one nothing should rest on it


class Forecaster:
    """A rule, and what it was worth here so far: much to work out, so it is kept until another step has ended."""

    def __init__(self, past: Sequence[float]) -> None:
        """Requests per second by step, the oldest first and none missing.

        The past begins where there first was a request: what was before that says nothing.
        """
        self._past = past[-DAYS_MAX * DAY_STEPS :]
        self._is_daily = len(self._past) >= DAYS_USUAL * DAY_STEPS
        rule, least = (usual_scaled, DAYS_USUAL * DAY_STEPS) if self._is_daily else (level_with_trend, 1)
        self._expected = [rule(self._past, lead) for lead in range(1, AHEAD_STEPS + 1)] if any(self._past) else []
        origins = _origins(len(self._past), least)
        self._origins = len(origins)
        self._bands = [_band(one) for one in _errors(self._past, rule, origins, self._kept)]

    def ahead(self, present: float | None, *, ends_at: int) -> DemandForecast:
        """From demand as it is now on; None: it is not known. The last whole step ended at `ends_at`."""
        if not self._expected and not present:
            return DemandForecast(steps=(), basis="no forecast: no request has come yet")
        rule = self._expected or [0.0] * AHEAD_STEPS
        steps = []
        for lead, expected in enumerate(rule, start=1):
            low, high = self._bands[(lead - 1) // LEADS_ALIKE]
            apart = 0.0 if present is None else (present - rule[0]) * self._kept(lead)
            steps.append(_step(max(0.0, expected + apart), low, high, ends_at + (lead - 1) * STEP_S))
        return DemandForecast(
            steps=tuple(steps),
            basis=_basis(len(self._past), self._origins, is_daily=self._is_daily),
            is_credible=self._origins >= ORIGINS_TRUSTED,
        )

    def _kept(self, lead: int) -> float:
        """What is left, so many steps ahead, of what sets the present apart."""
        return float(0.5 ** ((lead - 1) / RATIO_HALF_STEPS)) if self._is_daily else 1.0


def forecast(past: Sequence[float], *, ends_at: int, present: float | None = None) -> DemandForecast:
    """In one go."""
    return Forecaster(past).ahead(present, ends_at=ends_at)


def _step(expected: float, low: float, high: float, at: int) -> DemandStep:
    return DemandStep(
        at=at,
        requests_per_s=expected,
        low=max(0.0, (expected + ONE_REQUEST) * exp(low) - ONE_REQUEST),
        high=(expected + ONE_REQUEST) * exp(high) - ONE_REQUEST,
    )


def _origins(steps: int, least: int) -> range:
    """Moments with enough before them for the rule and something after them to compare with, evenly spaced."""
    first = max(least, LEVEL_STEPS)
    return range(first, steps, max(1, (steps - first) // ORIGINS_MAX))


def _errors(past: Sequence[float], rule: Rule, origins: range, kept: Callable[[int], float]) -> list[list[float]]:
    """How far off the rule was, as logarithms of actual over expected, by how far ahead it looked; it was told how the
    step began in which it was asked."""
    errors: list[list[float]] = [list(PRIOR_ERRORS) for _ in range(AHEAD_STEPS // LEADS_ALIKE)]
    for origin in origins:
        before = past[:origin]
        apart = past[origin] - rule(before, 1)
        for lead in _leads(len(past) - origin):
            actual, expected = past[origin - 1 + lead], max(0.0, rule(before, lead) + apart * kept(lead))
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
        return (
            f"demand now and the usual of the same time over {days:.1f} days, scaled by the last two hours; {checked}"
        )
    hours = steps * STEP_S / 3600
    return f"demand now with the damped trend of the last two hours, of {hours:.1f} hours of history; {checked}"
