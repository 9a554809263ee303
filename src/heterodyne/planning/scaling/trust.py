"""How far a capacity is to be believed: what was seen when replicas were near it.

A curve is found with the traffic of another day. Where more requests are late than was promised although there should
be room, it promises too much; where none is late at the brim, too little.
"""

from msgspec import Struct

LEAST, MOST = 0.6, 1.2
LATE_MANY, LATE_FEW = 2.0, 0.5  # times the share that may be late
BRIM = 0.9  # of the trusted capacity
DOWN, DOWN_MOST, UP = 0.03, 0.15, 0.002  # of it, at each look that tells something; the first by how late
SEEN_MIN = 100  # requests in the window that is judged
WINDOW_S = 600.0  # that is judged: what is late for a minute is chance
SETTLED_S = 660.0  # with enough replicas, before what is seen is not the work of an earlier shortage


class LatenessSample(Struct, frozen=True, kw_only=True, gc=False):
    """Between two looks."""

    at_s: float
    ended: int
    late: int
    arrivals: int
    risk: float


def lateness(samples: tuple[LatenessSample, ...]) -> float | None:
    """The share that is late or expected to be, whichever is more; None: too few to say."""
    ended, arrivals = sum(one.ended for one in samples), sum(one.arrivals for one in samples)
    if min(ended, arrivals) < SEEN_MIN:
        return None
    return max(sum(one.late for one in samples) / ended, sum(one.risk for one in samples) / arrivals)


def corrected(trust: float, *, late_share: float | None, allowed: float, load: float, settled_s: float) -> float:
    """`load` is demand as a share of the capacity as it is written, of replicas that are ready."""
    if late_share is None or settled_s < SETTLED_S:
        return trust
    if late_share > LATE_MANY * allowed and load <= trust:
        return max(LEAST, trust * (1.0 - min(DOWN_MOST, DOWN * late_share / (LATE_MANY * allowed))))
    if late_share < LATE_FEW * allowed and load > BRIM * trust:
        return min(MOST, trust * (1.0 + UP))
    return trust
