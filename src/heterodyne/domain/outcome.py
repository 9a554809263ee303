"""Pure: how a request ended, in one closed set of words that metrics, books, alerts and the console share.

A record keeps the status and the error's code; the outcome follows from both, so nothing stores it twice.
"""

from enum import StrEnum
from functools import lru_cache

from heterodyne.domain import errors
from heterodyne.domain.usage import ENGINE_ERROR_EVENT, GATEWAY_KILLED

KNOWN_MAX = 4096  # pairs of status and code that are remembered


class RequestOutcome(StrEnum):
    """Every request ends as exactly one of these."""

    OK = "ok"
    CLIENT_ERROR = "client_error"  # the request, or its key, must change
    CANCELLED = "cancelled"  # its client left
    REFUSED_LIMIT = "refused_limit"  # a limit or budget of a key, its project or its organisation
    REFUSED_SPARE = "refused_spare"  # batch work that found no room beside interactive work, and may wait
    REFUSED_CAPACITY = "refused_capacity"  # no room for it, or none in time
    ENGINE_ERROR = "engine_error"  # no replica answered, or one answered wrongly
    TIMEOUT = "timeout"  # the deadline passed, or a replica fell silent
    INTERNAL_ERROR = "internal_error"  # the gateway, or a store that it must ask


# What the fleet owes and did not give: these spend an error budget, and break a promise of latency.
FAULTS = frozenset(
    {
        RequestOutcome.REFUSED_CAPACITY,
        RequestOutcome.ENGINE_ERROR,
        RequestOutcome.TIMEOUT,
        RequestOutcome.INTERNAL_ERROR,
    }
)
REFUSALS = frozenset(
    {RequestOutcome.REFUSED_LIMIT, RequestOutcome.REFUSED_SPARE, RequestOutcome.REFUSED_CAPACITY}
)  # turned away for want of room or rights to it; the same request may pass later

_OF_CODE = {
    "": RequestOutcome.OK,
    errors.ClientGone.code: RequestOutcome.CANCELLED,
    errors.NotCached.code: RequestOutcome.CLIENT_ERROR,
    errors.LimitReached.code: RequestOutcome.REFUSED_LIMIT,
    errors.BudgetSpent.code: RequestOutcome.REFUSED_LIMIT,
    errors.SlowedDown.code: RequestOutcome.REFUSED_LIMIT,
    errors.NoSpareCapacity.code: RequestOutcome.REFUSED_SPARE,
    errors.Overloaded.code: RequestOutcome.REFUSED_CAPACITY,
    errors.QueueFull.code: RequestOutcome.REFUSED_CAPACITY,
    errors.NotInTime.code: RequestOutcome.REFUSED_CAPACITY,
    errors.Shed.code: RequestOutcome.REFUSED_CAPACITY,
    errors.Draining.code: RequestOutcome.REFUSED_CAPACITY,
    errors.EnginesFull.code: RequestOutcome.REFUSED_CAPACITY,
    errors.EngineOverloaded.code: RequestOutcome.REFUSED_CAPACITY,
    errors.EngineUnavailable.code: RequestOutcome.ENGINE_ERROR,
    errors.EngineBroke.code: RequestOutcome.ENGINE_ERROR,
    errors.EngineGarbage.code: RequestOutcome.ENGINE_ERROR,
    errors.AdapterUnavailable.code: RequestOutcome.ENGINE_ERROR,
    errors.EngineStalled.code: RequestOutcome.TIMEOUT,
    errors.DeadlineExceeded.code: RequestOutcome.TIMEOUT,
    errors.InternalError.code: RequestOutcome.INTERNAL_ERROR,
    errors.StoreUnavailable.code: RequestOutcome.INTERNAL_ERROR,
    errors.GuardUnavailable.code: RequestOutcome.INTERNAL_ERROR,
    errors.IssuerUnavailable.code: RequestOutcome.INTERNAL_ERROR,
    GATEWAY_KILLED: RequestOutcome.INTERNAL_ERROR,
    ENGINE_ERROR_EVENT: RequestOutcome.ENGINE_ERROR,
}
_KEY_REFUSED = (401, 403)  # by an engine: the key is the operator's, not the client's
_BUSY = (429, 503)


@lru_cache(KNOWN_MAX)
def outcome_of(status: int, reason: str) -> RequestOutcome:
    """What a record's status and error code say together; a code of the future is judged by its status."""
    if reason == errors.EngineRefused.code:
        return _of_engine(status)
    known = _OF_CODE.get(reason)
    if known is not None:
        return known
    return RequestOutcome.CLIENT_ERROR if 400 <= status < 500 else RequestOutcome.INTERNAL_ERROR


def is_fault(status: int, reason: str) -> bool:
    """Whether a request failed for want of something that the fleet owes."""
    return outcome_of(status, reason) in FAULTS


def _of_engine(status: int) -> RequestOutcome:
    """An engine's own refusal has one code and the engine's status."""
    if status in _BUSY:
        return RequestOutcome.REFUSED_CAPACITY
    if status >= 500 or status in _KEY_REFUSED:
        return RequestOutcome.ENGINE_ERROR
    return RequestOutcome.CLIENT_ERROR
