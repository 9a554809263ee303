"""Which traces are kept: a share of all, decided by the trace's id, and those that will be looked for."""

from collections.abc import Iterable
from enum import StrEnum

from heterodyne.domain.outcome import RequestOutcome, outcome_of

NO_ERRORS = frozenset(
    {RequestOutcome.OK, RequestOutcome.CLIENT_ERROR, RequestOutcome.CANCELLED, RequestOutcome.REFUSED_LIMIT}
)
RANDOM_BITS = 56  # at the end of a trace id; those before them may be a clock's
UNTROUBLED = frozenset({"success", "cancelled", "caller_error"})  # outcomes that say nothing against a replica


class SamplingReason(StrEnum):
    """Why a trace is kept."""

    SAMPLED = "sampled"  # one of the share; only these stand for all requests
    ERROR = "error"
    RETRIED = "retried"  # it ended well, after an attempt that did not
    SLOW = "slow"


class Ratio:
    """A gateway that samples a larger share keeps all that a smaller one does, so that gateways agree."""

    def __init__(self, ratio: float) -> None:
        self._least = round((1.0 - ratio) * (1 << RANDOM_BITS))

    def is_sampled(self, trace_id: int) -> bool:
        return trace_id & ((1 << RANDOM_BITS) - 1) >= self._least


def is_error(status: int, reason: str) -> bool:
    """Whether we or an engine failed; what a client should not have sent, and its leaving, is no error of ours."""
    return outcome_of(status, reason) not in NO_ERRORS


def sampling_reason(
    *, is_sampled: bool, status: int, reason: str, outcomes: Iterable[str], first_s: float, slow_s: float
) -> SamplingReason | None:
    """None: it is not. `first_s` is the wait for the first token, be it in vain; `slow_s` 0: no request is slow."""
    if is_sampled:
        return SamplingReason.SAMPLED
    if is_error(status, reason):
        return SamplingReason.ERROR
    if slow_s and first_s > slow_s:
        return SamplingReason.SLOW
    if any(outcome not in UNTROUBLED for outcome in outcomes):
        return SamplingReason.RETRIED
    return None


class Rate:
    """So many in a second, and no more at once."""

    def __init__(self, per_second: float, now_s: float) -> None:
        self._per_second = per_second
        self._left = per_second
        self._at_s = now_s

    def try_take(self, now_s: float) -> bool:
        self._left = min(self._per_second, self._left + (now_s - self._at_s) * self._per_second)
        self._at_s = now_s
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
