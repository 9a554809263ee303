"""The slow half: what the time of day, the day of the week and the trend say will come.

Several rules are asked at past moments what would follow; the one that was nearest here is believed, with a band of its
own errors. Before there is a record there is no floor. It begins with the second day and becomes better with each one.
"""

from collections.abc import Callable, Sequence
from math import exp, log
from statistics import fmean

from msgspec import Struct

from heterodyne.planning.traffic.demand_rules import (
    DAY_STEPS,
    ONE_REQUEST,
    STEP_S,
    level_with_trend,
    usual_scaled,
    week_scaled,
)

DAYS_MAX = 28
LEADS = (1, 2, 3)  # steps ahead that matter to a replica that takes minutes to start
ORIGINS_MAX = 144  # past moments that a rule is asked at
ORIGINS_MIN = 36  # make a record
RECORD_DAYS = 8  # that it goes back: a week, and a day that begins another
ENOUGH = 0.5  # of past errors are below the floor: what is beyond it is left to the fast loop

Rule = Callable[[Sequence[float], int], float]


class FloorStep(Struct, frozen=True, kw_only=True):
    """Usual requests a second in the step that begins at `at_s`."""

    at_s: float
    expected: float
    high: float


class Floor(Struct, frozen=True, kw_only=True):
    """What is forecast of the next steps, by which rule, and how far off that was."""

    steps: tuple[FloorStep, ...] = ()  # empty: there is no record
    rule: str = "none"
    knows_when: bool = False  # whether the rule goes by the time, not by the last hours alone
    error: float = 0.0  # the mean of its past ones, as a logarithm

    def between(self, from_s: float, to_s: float) -> float:
        """The highest of the steps that touch this time; 0 where none does."""
        return max((one.high for one in self.steps if one.at_s < to_s and one.at_s + STEP_S > from_s), default=0.0)


def floor_of(past: Sequence[float], ends_at_s: float) -> Floor:
    """From usual requests a second by step, the oldest first; the last of them ended at `ends_at_s`."""
    rules: dict[str, tuple[Rule, int]] = {
        "level and trend": (level_with_trend, 6),
        "time of day": (usual_scaled, DAY_STEPS + 12),
        "day of the week": (week_scaled, 7 * DAY_STEPS + 12),
    }
    judged = {}
    for name, (rule, least) in rules.items():
        origins = _origins(len(past), least)
        if len(origins) >= ORIGINS_MIN:
            judged[name] = (rule, {lead: _errors(past, rule, origins, lead) for lead in LEADS})
    if not judged:
        return Floor()
    name = min(judged, key=lambda one: _typical(judged[one][1]))
    rule, errors = judged[name]
    steps = []
    for lead in LEADS:
        expected = rule(past, lead)
        ordered = sorted(errors[lead])
        band = ordered[int(ENOUGH * len(ordered))]
        steps.append(
            FloorStep(
                at_s=ends_at_s + (lead - 1) * STEP_S,
                expected=expected,
                high=max(0.0, (expected + ONE_REQUEST) * exp(band) - ONE_REQUEST),
            )
        )
    return Floor(steps=tuple(steps), rule=name, knows_when=rule is not level_with_trend, error=_typical(errors))


def _origins(steps: int, least: int) -> range:
    """Moments with enough before them for the rule, evenly spaced over the last days."""
    first = max(least, steps - RECORD_DAYS * DAY_STEPS)
    last = steps - max(LEADS) + 1
    return range(first, last, max(1, (last - first) // ORIGINS_MAX)) if last > first else range(0)


def _errors(past: Sequence[float], rule: Rule, origins: range, lead: int) -> list[float]:
    """Logarithms of actual over expected."""
    return [
        log((past[origin - 1 + lead] + ONE_REQUEST) / (max(0.0, rule(past[:origin], lead)) + ONE_REQUEST))
        for origin in origins
    ]


def _typical(errors: dict[int, list[float]]) -> float:
    return fmean(abs(one) for those in errors.values() for one in those)
