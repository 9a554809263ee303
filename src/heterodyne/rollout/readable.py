"""Pure: harm as people read it, a share of one: of requests where a metric is a rate, of what it was where a ratio."""

import math

from heterodyne.rollout.bounds import NOTHING_KNOWN
from heterodyne.rollout.metric import Kind, Metric


def try_share(metric: Metric, harm: float) -> float | None:
    """None: nothing is known."""
    if abs(harm) > NOTHING_KNOWN / 2:  # of which what is known of the other side may have been taken
        return None
    return math.expm1(harm) if metric.kind is Kind.RATIO else harm
