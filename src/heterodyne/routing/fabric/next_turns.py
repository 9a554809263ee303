"""Pure: when the next turn of a conversation is likely, by the pauses before its earlier ones.

A conversation is known by its prompts: a turn begins with all of the turn before it, block by block, and with its
tenant's salt. Of one that has had too few pauses, or long ones, nothing is expected.
"""

from collections import OrderedDict
from typing import Final, final

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.routing_request import RoutingRequest

TURNS_MAX: Final = 1024
PAUSES_MIN: Final = 2  # before anything is expected
PAUSE_MAX_S: Final = 120.0
GAIN: Final = 0.5  # how far one pause moves what is expected
EARLY: Final = 0.5  # of a pause, from when on the turn may come at any time
LATE: Final = 2.0  # after which it is not expected any more


@final
class NextTurn:
    """One that may follow."""

    __slots__ = ("answered_at_s", "is_tried", "pause_s", "pauses", "replica", "request")

    def __init__(
        self, request: RoutingRequest, replica: ReplicaId, answered_at_s: float, pause_s: float, pauses: int
    ) -> None:
        self.request = request  # of the turn before
        self.replica = replica  # that answered it
        self.answered_at_s = answered_at_s
        self.pause_s = pause_s  # expected
        self.pauses = pauses  # that this was learned from
        self.is_tried = False  # whether its KV has been brought ahead of it, or tried to

    @property
    def key(self) -> int:
        """Of the whole prompt of the turn before."""
        return self.request.chain.hashes[-1]

    @property
    def until_s(self) -> float:
        """It is not expected later."""
        return self.answered_at_s + LATE * self.pause_s

    def is_expected(self, now_s: float) -> bool:
        """Whether it may still come, soon or later."""
        return self.pauses >= PAUSES_MIN and self.pause_s <= PAUSE_MAX_S and now_s < self.until_s

    def is_due(self, now_s: float) -> bool:
        """Whether it may come at any moment."""
        return self.is_expected(now_s) and now_s >= self.answered_at_s + EARLY * self.pause_s


@final
class NextTurns:
    """One per worker; those that were answered last."""

    __slots__ = ("_going", "_turns")

    def __init__(self) -> None:
        self._turns: OrderedDict[int, NextTurn] = OrderedDict()
        self._going: OrderedDict[int, tuple[float, int]] = OrderedDict()  # what turns know that are being answered

    def answered(self, request: RoutingRequest, replica: ReplicaId, now_s: float) -> None:
        """A turn has been answered in full; its prompt has blocks."""
        key = request.chain.hashes[-1]
        pause_s, pauses = self._going.pop(key, (0.0, 0))
        self._turns[key] = NextTurn(request, replica, now_s, pause_s, pauses)
        self._turns.move_to_end(key)
        if len(self._turns) > TURNS_MAX:
            self._turns.popitem(last=False)

    def asked(self, request: RoutingRequest, now_s: float) -> NextTurn | None:
        """A turn comes: the one that was expected, which is no more."""
        hashes = request.chain.hashes
        for key in reversed(hashes):
            turn = self._turns.pop(key, None)
            if turn is None:
                continue
            pause_s = now_s - turn.answered_at_s
            if turn.pauses:
                pause_s = turn.pause_s + GAIN * (pause_s - turn.pause_s)
            self._going[hashes[-1]] = pause_s, turn.pauses + 1
            if len(self._going) > TURNS_MAX:
                self._going.popitem(last=False)
            return turn
        return None

    def of(self, key: int) -> NextTurn | None:
        """The one that follows a prompt; None: nobody knows of it."""
        return self._turns.get(key)

    def due(self, now_s: float) -> list[NextTurn]:
        """Those that may come at any moment and were not tried, the one that has waited longest first."""
        return [turn for turn in self._turns.values() if not turn.is_tried and turn.is_due(now_s)]

    def has_expected(self, now_s: float) -> bool:
        """Whether any is expected, soon or later."""
        return any(turn.is_expected(now_s) for turn in self._turns.values())
