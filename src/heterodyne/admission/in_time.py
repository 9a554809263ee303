"""Pure: whether a request can be answered in time at all, asked before anything is spent on it."""

from collections.abc import Sequence
from math import ceil, inf

from msgspec import Struct

from heterodyne.domain.errors import NotInTime


class Outlook(Struct, frozen=True, kw_only=True, gc=False):
    """What a request would take by one replica. Which quantile is given decides how sure a refusal is."""

    wait_s: float  # in our queue and in that of the replica: what passes if the request comes later
    ttft_s: float  # from then to its first token
    total_s: float  # from then to its last


def check_in_time(
    outlooks: Sequence[Outlook], *, arrived_s: float, now_s: float, deadline_s: float = inf, ttft_slo_s: float = inf
) -> None:
    """Raise `NotInTime` where no replica would keep both the deadline and the promised TTFT.

    The message says what the best could do. `retry_after_s` is the soonest time at which the same request, sent anew,
    would be in time if nobody else came; it is absent where waiting does not help.
    """
    spent_s = now_s - arrived_s
    allowed_s = deadline_s - arrived_s
    best, least_late_s = None, inf
    for outlook in outlooks:
        late_s = max(
            spent_s + outlook.wait_s + outlook.ttft_s - ttft_slo_s,
            spent_s + outlook.wait_s + outlook.total_s - allowed_s,
        )
        if late_s <= 0.0:
            return
        if late_s < least_late_s:
            best, least_late_s = outlook, late_s
    if best is None:
        return  # nobody to ask is another refusal, and another's to make
    soonest_s = min((_soonest_s(outlook, allowed_s, ttft_slo_s) for outlook in outlooks), default=inf)
    raise NotInTime(
        f"{_shortfall(best, spent_s, allowed_s, ttft_slo_s)} {_advice(soonest_s)}",
        retry_after_s=None if soonest_s == inf else max(1, ceil(soonest_s)),
    )


def _soonest_s(outlook: Outlook, allowed_s: float, ttft_slo_s: float) -> float:
    """How much of the wait must pass; infinity where even an empty queue would be too late."""
    too_much_s = max(outlook.ttft_s - ttft_slo_s, outlook.total_s - allowed_s)
    return inf if too_much_s > 0.0 else max(0.0, outlook.wait_s + too_much_s)


def _shortfall(best: Outlook, spent_s: float, allowed_s: float, ttft_slo_s: float) -> str:
    first_s = spent_s + best.wait_s + best.ttft_s
    last_s = spent_s + best.wait_s + best.total_s
    if first_s > ttft_slo_s:
        return f"The first token would come after {first_s:.2f} s at best; {ttft_slo_s:.2f} s were promised."
    return f"The answer would be complete after {last_s:.2f} s at best; its deadline is after {allowed_s:.2f} s."


def _advice(soonest_s: float) -> str:
    if soonest_s == inf:
        return "No replica is fast enough even without a queue: ask for less, or allow more time."
    return f"It could be in time in {max(1, ceil(soonest_s))} s, or now with more time allowed."
