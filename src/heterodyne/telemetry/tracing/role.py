"""Why a replica was asked, from the times of a request's attempts."""

from collections.abc import Sequence
from enum import StrEnum

from heterodyne.telemetry.tracing.facts import TryFacts


class AttemptRole(StrEnum):
    """Of one attempt among those of its request."""

    FIRST = "first"
    RETRY = "retry"  # an earlier one failed before its first word
    HEDGE = "hedge"  # an earlier one was late
    CONTINUATION = "continuation"  # an earlier one broke off


def role_of(tries: Sequence[TryFacts], number: int) -> AttemptRole:
    """Of the attempt with this number; they are in the order in which they were asked."""
    if number == 0:
        return AttemptRole.FIRST
    one, before = tries[number], tries[:number]
    if any(other.ended_at_s > one.asked_at_s for other in before):
        return AttemptRole.HEDGE
    return AttemptRole.CONTINUATION if any(other.first_at_s for other in before) else AttemptRole.RETRY


def gone_on_from(tries: Sequence[TryFacts], number: int) -> TryFacts:
    """The attempt that one continues, or that failed or was late before it."""
    before = tries[:number]
    if role_of(tries, number) is AttemptRole.CONTINUATION:
        before = [other for other in before if other.first_at_s]
    return before[-1]
