"""Pure: what a candidate is judged by, and how much worse it may be."""

import math
from enum import StrEnum

from msgspec import Struct


class Kind(StrEnum):
    """What the values of a metric are."""

    RATE = "rate"  # something was so, or was not
    RATIO = "ratio"  # a positive number, compared by how many times larger it is
    SCORE = "score"  # a number from 0 to 1


class Worse(StrEnum):
    """In which direction a metric harms."""

    HIGHER = "higher"
    LOWER = "lower"
    EITHER = "either"  # whatever changes


class Metric(Struct, frozen=True, kw_only=True):
    """One. Harm is a difference of rates or scores, or the logarithm of a ratio."""

    name: str
    kind: Kind
    worse: Worse
    breach: float  # surely more harm than this ends a rollout
    tolerance: float  # surely less harm than this is enough for the first stage of a canary


def _times(ratio: float) -> float:
    return math.log(ratio)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(name="errors", kind=Kind.RATE, worse=Worse.HIGHER, breach=0.001, tolerance=0.01),
        Metric(name="ttft", kind=Kind.RATIO, worse=Worse.HIGHER, breach=_times(1.03), tolerance=_times(1.25)),
        Metric(name="itl", kind=Kind.RATIO, worse=Worse.HIGHER, breach=_times(1.03), tolerance=_times(1.25)),
        Metric(name="refusals", kind=Kind.RATE, worse=Worse.HIGHER, breach=0.005, tolerance=0.03),
        Metric(name="length", kind=Kind.RATIO, worse=Worse.EITHER, breach=_times(1.1), tolerance=_times(1.35)),
        Metric(name="invalid_tool_calls", kind=Kind.RATE, worse=Worse.HIGHER, breach=0.005, tolerance=0.03),
        Metric(name="quality", kind=Kind.SCORE, worse=Worse.LOWER, breach=0.01, tolerance=0.05),
    )
}
