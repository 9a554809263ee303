"""Why KV did not come, in words that metrics count by. None of it fails a request: its prompt is computed."""

from enum import StrEnum

from heterodyne.domain.errors import EngineError, EngineGarbage, EngineStalled
from heterodyne.routing.health.outcome import Outcome, outcome_of, outcome_of_status


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

    def __init__(self, outcome: KvOutcome, message: str, *, shown: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.shown = shown  # by the replica that was to compute the prompt, of itself; None: nothing


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


def not_computed(error: EngineError) -> KvFailure:
    """The same where a replica was asked to compute the prompt for another."""
    failure = failure_of(error)
    failure.shown = outcome_of(error, has_begun=False)
    return failure


def refused_prefill(status: int) -> KvFailure:
    """It has answered, and not with a prompt that it has computed."""
    message = f"The prefill replica answered with status {status}."
    return KvFailure(KvOutcome.REFUSED, message, shown=outcome_of_status(status))


def late_prefill(bound_s: float) -> KvFailure:
    """It has not answered."""
    shown = Outcome.STALLED_BEFORE_FIRST_TOKEN
    return KvFailure(KvOutcome.LATE, f"The prefill replica did not answer within {bound_s:.3f} s.", shown=shown)
