"""The shape of the last minutes: a level, a step from one level to another, or a bend from a level into a line.

A step and a bend are looked for at every moment. Only what is beyond chance counts, and where both are, the one that
leaves less over. What came before it then says nothing of what comes next.
"""

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct

SURE_STEP = 4.5  # errors of the difference between before and after that no chance makes
SURE_BEND = 4.0  # and of a slope
SAMPLES_MIN = 12
BEFORE_MIN = 6  # samples that make a level
AFTER_MIN = 5  # samples that make a line
BEND_PENALTY = 1.05  # a young step looks like a bend, and to follow that costs replicas
FALLEN_S = 60.0  # that less has to last before it is a level


class LoadSample(Struct, frozen=True, kw_only=True, gc=False):
    """Usual requests that came between two looks, and what they were counted from."""

    at_s: float
    span_s: float
    requests: float
    arrivals: int = 0
    prompt_tokens: int = 0


class DemandChange(Struct, frozen=True, kw_only=True):
    """The last change of demand that is beyond chance."""

    place: int  # of the first sample after it
    lasted_s: float
    level: float  # usual requests a second, now
    slope: float = 0.0  # a second; 0: a step
    slope_error: float = 0.0
    is_up: bool
    explained: float = 0.0  # squares that a level alone leaves over


def last_change(samples: Sequence[LoadSample], dispersion: float) -> DemandChange | None:
    """None: the samples are of one level as far as chance allows."""
    whole, whole_s = sum(one.requests for one in samples), sum(one.span_s for one in samples)
    if len(samples) < SAMPLES_MIN or not whole:
        return None
    variance = dispersion * whole / whole_s  # of the requests in a second, if nothing changed
    step, bend = _step(samples, variance), _bend(samples, variance)
    if step is None or (bend is not None and bend.explained > BEND_PENALTY * step.explained):
        return bend
    return step


def _step(samples: Sequence[LoadSample], variance: float) -> DemandChange | None:
    whole, whole_s = sum(one.requests for one in samples), sum(one.span_s for one in samples)
    after = after_s = 0.0
    best = None
    for place in range(len(samples) - 1, BEFORE_MIN - 1, -1):
        after += samples[place].requests
        after_s += samples[place].span_s
        before_s = whole_s - after_s
        change = after / after_s - (whole - after) / before_s
        weight = after_s * before_s / whole_s
        explained = change * change * weight
        if explained < SURE_STEP * SURE_STEP * variance or (change < 0 and after_s < FALLEN_S):
            continue
        if best is None or explained > best.explained:
            best = DemandChange(
                place=place, lasted_s=after_s, level=after / after_s, is_up=change > 0, explained=explained
            )
    return best


def _bend(samples: Sequence[LoadSample], variance: float) -> DemandChange | None:
    """A line that begins at the level before it."""
    whole, whole_s = sum(one.requests for one in samples), sum(one.span_s for one in samples)
    now_s = samples[-1].at_s
    best = None
    # Sums over what is after the bend: seconds and requests, each also times how long ago, and its square.
    after = after_s = aged = aged_s = aged_squared_s = 0.0
    for place in range(len(samples) - 1, BEFORE_MIN - 1, -1):
        one = samples[place]
        age_s = now_s - one.at_s + 0.5 * one.span_s
        after, after_s = after + one.requests, after_s + one.span_s
        aged, aged_s = aged + one.requests * age_s, aged_s + one.span_s * age_s
        aged_squared_s += one.span_s * age_s * age_s
        if len(samples) - place < AFTER_MIN or (lasted_s := age_s + 0.5 * one.span_s) <= 0:
            continue
        level = (whole - after) / (whole_s - after_s)
        spread = aged_squared_s - 2.0 * lasted_s * aged_s + lasted_s * lasted_s * after_s
        lever = lasted_s * after_s - aged_s
        product = lasted_s * after - aged - level * lever
        slope = product / spread
        error = sqrt(variance * (1.0 + lever * lever / spread / (whole_s - after_s)) / spread)
        if abs(slope) < SURE_BEND * error or (slope < 0 and after_s < FALLEN_S):
            continue
        explained = slope * product - whole_s * (whole / whole_s - level) ** 2
        if best is None or explained > best.explained:
            best = DemandChange(
                place=place,
                lasted_s=lasted_s,
                level=max(0.0, level + slope * lasted_s),
                slope=slope,
                slope_error=error,
                is_up=slope > 0,
                explained=explained,
            )
    return best
