"""Capacity: the largest load at which the promised share of requests keeps both promised times.

Every plan counts with this one number, from the queueing formula; the step machine and the simulator are what it is
held against.
"""

from enum import StrEnum
from math import sqrt

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.queueing import QueueState, ReplicaQueue
from heterodyne.planning.traffic.request_shape import RequestShape

SHARE = 0.99  # of requests, unless another is promised
CONCURRENCY_LEAST = 0.01  # hardly two requests ever meet
HALVINGS = 16
CAUTION = 0.93
CAUTIOUS_HALVINGS = 7


class Limit(StrEnum):
    """What more load would break."""

    TTFT = "ttft"
    ITL = "itl"
    PLACES = "memory"  # requests would wait for keys and values of others to go
    NOTHING = "nothing"  # every place is taken and both times are kept


class TimeQuantiles(Struct, frozen=True):
    """Of a time, over requests."""

    p50_s: float
    p90_s: float
    p99_s: float


class SustainedLoad(Struct, frozen=True, kw_only=True):
    """What one replica carries within a promise."""

    requests_per_s: float
    concurrency: float  # requests at once, on average
    utilisation: float  # of the rate at which its queue would begin to grow without end
    kept_share: float  # of requests, within both times
    ttft: TimeQuantiles
    itl: TimeQuantiles  # of each request's mean
    limit: Limit


class Shortfall(Struct, frozen=True, kw_only=True):
    """One request alone breaks the promise already, or does not fit."""

    limit: Limit
    ttft_s: float | None = None  # of one alone; None: it does not fit
    itl_s: float | None = None


def sustained_load(
    clock: StepClock, scheduling: Scheduling, shape: RequestShape, slo: Slo, *, share: float = SHARE
) -> SustainedLoad | Shortfall:
    """Halve the range between a replica that is nearly idle and one that is full."""
    queue = ReplicaQueue(clock, scheduling, shape)
    if not queue.is_large_enough:
        return Shortfall(limit=Limit.PLACES)
    alone = queue.state(0.0)
    if alone is None or alone.kept(slo) < share:
        if alone is None:
            return Shortfall(limit=Limit.TTFT)
        limit = Limit.ITL if alone.itl_least_s > slo.itl_s else Limit.TTFT
        return Shortfall(limit=limit, ttft_s=alone.ttft_least_s, itl_s=alone.itl_least_s)
    low, high = CONCURRENCY_LEAST, queue.places
    best, beyond = alone, alone
    for _ in range(HALVINGS):
        middle = sqrt(low * high)
        state = queue.state(middle)
        if state is not None and state.kept(slo) >= share:
            low, best = middle, state
        else:
            high, beyond = middle, state or beyond
    if best is alone:
        return Shortfall(limit=_limit(beyond, slo), ttft_s=alone.ttft_least_s, itl_s=alone.itl_least_s)
    return _sustained(_cautious(queue, best), queue, slo, _limit(beyond, slo))


def _cautious(queue: ReplicaQueue, most: QueueState) -> QueueState:
    """Under so much less load as the formula promises too much at times."""
    low, high, best = 0.0, most.concurrency, most
    for _ in range(CAUTIOUS_HALVINGS):
        middle = (low + high) / 2
        state = queue.state(middle)
        assert state is not None, "less than what it sustains"
        if state.requests_per_s > CAUTION * most.requests_per_s:
            high, best = middle, state
        else:
            low, best = middle, state
    return best


def _sustained(state: QueueState, queue: ReplicaQueue, slo: Slo, limit: Limit) -> SustainedLoad:
    return SustainedLoad(
        requests_per_s=state.requests_per_s,
        concurrency=state.concurrency,
        utilisation=min(1.0, state.requests_per_s / queue.saturated_requests_per_s()),
        kept_share=state.kept(slo),
        ttft=TimeQuantiles(*(state.ttft_quantile_s(share) for share in (0.5, 0.9, 0.99))),
        itl=TimeQuantiles(*(state.itl_quantile_s(share) for share in (0.5, 0.9, 0.99))),
        limit=limit,
    )


def check_share(share: float) -> None:
    """Raise `InvalidSpec` for a share that cannot be promised."""
    if not 0 < share < 1:
        raise InvalidSpec(f"share: {share:g} is not between 0 and 1; 0.99 promises the times to 99 in 100 requests.")


def _limit(state: QueueState, slo: Slo) -> Limit:
    """What is broken most."""
    first = state.within_ttft(slo.ttft_s)
    if state.within_itl(slo.itl_s) < first:
        return Limit.ITL
    return Limit.PLACES if state.full_share > (1.0 - first) / 2 else Limit.TTFT
