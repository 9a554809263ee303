"""Why KV did not come, in words that metrics count by. None of it fails a request: its prompt is computed."""

from enum import StrEnum

from heterodyne.domain.errors import EngineError, EngineGarbage, EngineStalled


class KvOutcome(StrEnum):
    """What came of one exchange."""

    ARRIVED = "arrived"
    LATE = "late"  # beyond the bound that the forecast sets
    UNREACHABLE = "unreachable"  # a side is not there, or went away
    REFUSED = "refused"  # an engine answered, and handed nothing over
    MISMATCHED = "mismatched"  # the two sides do not hold KV alike
    MISSING = "missing"  # it is not where it was thought to be
    STALE = "stale"  # its lease has run out, or its file is not as it was recorded
    CROWDED = "crowded"  # as many exchanges run as may, or no slot is free
    CANCELLED = "cancelled"  # the request was over first


class KvFailure(Exception):
    """The KV of one request will not come."""

    def __init__(self, outcome: KvOutcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


def failure_of(error: EngineError) -> KvFailure:
    """What an engine's error means for an exchange."""
    match error:
        case EngineStalled():
            outcome = KvOutcome.LATE
        case EngineGarbage():
            outcome = KvOutcome.REFUSED
        case _:
            outcome = KvOutcome.UNREACHABLE
    return KvFailure(outcome, error.message)
