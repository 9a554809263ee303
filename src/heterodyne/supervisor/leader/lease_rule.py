"""Pure: who may lead, by a lease that the store keeps and that each gateway judges by its own clock alone.

Clocks of machines differ, so nobody compares another's time with his own: a lease that has not changed for LEASE_S, as
one sees it, is over. A leader that cannot renew it stops earlier, LEADS_S after it began the renewal that last worked.
"""

from enum import Enum
from math import inf
from typing import Final

from msgspec import Struct

LEASE_S: Final = 6.0  # unchanged for so long, it may be taken
LEADS_S: Final = 4.0  # after the beginning of a renewal that worked
RENEW_S: Final = 1.5  # between two looks
TAKEOVER_S: Final = LEASE_S + 2 * RENEW_S  # after a leader was killed another one leads, at the latest


class LeaderLease(Struct, frozen=True, kw_only=True):
    """What the store keeps."""

    holder: str  # "": it was given back
    term: int  # the fence: one higher with every other leader, and what is told to whatever a leader changes


class LeaseStep(Enum):
    """What to do about the lease now."""

    RENEW = "renew"
    TAKE = "take"
    WAIT = "wait"


class LeaseRule:
    """One per gateway. Times are of its own clock, which never goes back."""

    def __init__(self, holder: str) -> None:
        self._holder = holder
        self._seen_revision = -1
        self._seen_at_s = -inf
        self._leads_until_s = -inf
        self._term = 0

    def step(self, lease: LeaderLease, revision: int, now_s: float) -> LeaseStep:
        """The lease was read just now; its revision grows with every change."""
        if revision != self._seen_revision:
            self._seen_revision, self._seen_at_s = revision, now_s
        if lease.holder == self._holder:
            return LeaseStep.RENEW
        self._leads_until_s = -inf
        if not lease.holder or now_s - self._seen_at_s >= LEASE_S:
            return LeaseStep.TAKE
        return LeaseStep.WAIT

    def kept(self, term: int, began_at_s: float) -> None:
        """The store took the renewal, or the taking, that was begun then."""
        self._term, self._leads_until_s = term, began_at_s + LEADS_S

    def lost(self) -> None:
        """The store has another's, or the lease was given back."""
        self._leads_until_s = -inf

    def fence(self, now_s: float) -> int | None:
        """The term that this gateway leads in; None: it does not lead."""
        return self._term if now_s < self._leads_until_s else None
