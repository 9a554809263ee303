"""What one attempt on a replica ended as, and what that says about the replica."""

from enum import StrEnum

from heterodyne.domain.errors import (
    AdapterUnavailable,
    EngineError,
    EngineGarbage,
    EngineOverloaded,
    EngineStalled,
    EngineUnavailable,
)


class Outcome(StrEnum):
    """A closed set: every attempt ends as exactly one of these."""

    SUCCESS = "success"
    CONNECT_FAILED = "connect_failed"
    BROKE = "broke"  # closed, reset or cut short in the middle of an answer
    GARBAGE = "garbage"
    STALLED_BEFORE_FIRST_TOKEN = "stalled_before_first_token"  # noqa: S105  # a word, no secret
    STALLED_MIDSTREAM = "stalled_midstream"
    ENGINE_FAILED = "engine_failed"  # a 5xx of the engine's own
    REFUSED_BUSY = "refused_busy"  # a 429, 503 or 529: the engine works, and has enough to do
    CALLER_ERROR = "caller_error"  # any other 4xx: says nothing about the replica
    CANCELLED = "cancelled"  # says nothing about the replica


# Reasons to eject a replica and to open its breaker. A refusal is none: ejecting a busy replica would push its load
# onto the others until they are busy too. It does lower the success rate, which is compared with the pool's own.
FAILURES = frozenset(
    {
        Outcome.CONNECT_FAILED,
        Outcome.BROKE,
        Outcome.GARBAGE,
        Outcome.STALLED_BEFORE_FIRST_TOKEN,
        Outcome.STALLED_MIDSTREAM,
        Outcome.ENGINE_FAILED,
    }
)

BUSY = (429, 503, 529)  # the last is Anthropic's word for too much to do

# On the request path an enum's member costs five times as much as a global.
SUCCESS, CALLER_ERROR, CANCELLED = Outcome.SUCCESS, Outcome.CALLER_ERROR, Outcome.CANCELLED


def outcome_of(error: EngineError, *, has_begun: bool, was_sent: bool = True) -> Outcome:
    """What a failure says about the replica: nothing, where it was never asked."""
    if isinstance(error, EngineOverloaded):
        return Outcome.REFUSED_BUSY  # said in the middle of a stream
    if isinstance(error, EngineUnavailable):
        return Outcome.CONNECT_FAILED
    if isinstance(error, AdapterUnavailable):
        return CANCELLED  # the model alone may be served as well as ever
    if isinstance(error, EngineGarbage):
        return Outcome.GARBAGE
    if isinstance(error, EngineStalled):
        return Outcome.STALLED_MIDSTREAM if has_begun else Outcome.STALLED_BEFORE_FIRST_TOKEN
    return Outcome.BROKE if was_sent else CANCELLED


def outcome_of_status(status: int) -> Outcome:
    """What a whole answer says about the replica."""
    if status == 200:
        return SUCCESS
    if status in BUSY:
        return Outcome.REFUSED_BUSY
    if status == 501:  # it has no such call
        return CALLER_ERROR  # whoever asks a chat model to rank texts must not have it taken for broken
    if status >= 500 or status in (401, 403):  # a key that it refuses is the replica's trouble, not the caller's
        return Outcome.ENGINE_FAILED
    return CALLER_ERROR
