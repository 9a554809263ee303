"""How far a capacity is to be believed: what was seen of lateness while there were replicas enough.

A curve is found with the traffic of another day, for a load that never changes. Where more requests are late than was
promised although there should be room, it promises too much, and is believed less at once. Where hardly any is late for
long, the promise has a budget that nobody uses, and it is believed more, little by little.
"""

from collections.abc import Sequence

from msgspec import Struct

LEAST, MOST = 0.6, 1.1
KEPT_S = 3600.0  # of what is judged
# Of the last so many seconds, what is late has to be so many times what may be to count.
DOUBTS = ((300.0, 6.0), (600.0, 5.0), (1800.0, 1.5), (3600.0, 1.5))
SURE_S = 1800.0
FEW = 0.3  # times what may be late: a budget that is not used
DOWN, DOWN_MOST = 0.02, 0.15  # of it, by how late
UP = 0.0003  # of it, at each look
SEEN_MIN = 100  # requests
SETTLING_S = 60.0  # after there are enough, in which an earlier shortage still shows


class LatenessSample(Struct, frozen=True, kw_only=True, gc=False):
    """Between two looks."""

    at_s: float
    ended: int
    late: int
    arrivals: int
    risk: float


def corrected(
    trust: float, samples: Sequence[LatenessSample], *, allowed: float, now_s: float, enough_since_s: float | None
) -> float:
    """`enough_since_s` None: there are not enough replicas, and what is late is their fault."""
    if enough_since_s is None:
        return _bolder(trust, samples, allowed, now_s)
    begins_s = max(enough_since_s + SETTLING_S, now_s - KEPT_S)
    for window_s, times in DOUBTS:
        if now_s - begins_s < window_s:
            break
        late_share = _lateness([one for one in samples if one.at_s >= max(begins_s, now_s - window_s)])
        if late_share is not None and late_share > times * allowed:
            return max(LEAST, trust * (1.0 - min(DOWN_MOST, DOWN * late_share / allowed)))
    return _bolder(trust, samples, allowed, now_s)


def _bolder(trust: float, samples: Sequence[LatenessSample], allowed: float, now_s: float) -> float:
    """Believed a little more where hardly any was late for long, shortages and all."""
    if not samples or now_s - samples[0].at_s < SURE_S:
        return trust
    late_share = _lateness(samples)
    if late_share is None or late_share >= FEW * allowed:
        return trust
    return max(trust, min(MOST, trust * (1.0 + UP)))


def _lateness(samples: Sequence[LatenessSample]) -> float | None:
    """The share that is late or expected to be, whichever is more; None: too few to say."""
    ended, arrivals = sum(one.ended for one in samples), sum(one.arrivals for one in samples)
    if min(ended, arrivals) < SEEN_MIN:
        return None
    return max(sum(one.late for one in samples) / ended, sum(one.risk for one in samples) / arrivals)
