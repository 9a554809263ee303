"""Watches the numbers of KV event messages: what was lost, what came twice, whether the engine began anew.

Pure: the reader of the sockets passes in what came and does as it is answered. An engine numbers its messages from 0
and keeps the last of them for replay. What it no longer has is lost, and with it everything known of its cache: a block
that was removed in between would be believed in for ever.
"""

from typing import NamedTuple

NUMBER_BYTES = 8  # big-endian, before the payload; -1 ends a replay
END_OF_REPLAY = (-1).to_bytes(NUMBER_BYTES, "big", signed=True)


class SequenceStep(NamedTuple):
    """What to do, in this order: forget the engine's cache, apply the message, ask for a replay."""

    forgets: bool = False
    applies: bool = False
    replay_from: int | None = None  # keep the message, and live ones after it, until the replay has ended


APPLY, DROP = SequenceStep(applies=True), SequenceStep()


class SequenceWatch:
    """The numbers of one engine's messages. Live ones only ever grow while the engine lives."""

    __slots__ = ("_held", "_live", "_next")

    def __init__(self) -> None:
        self._next = 0  # the number that would come without a gap
        self._live = -1  # the last that came live
        self._held: int | None = None  # the live one that waits for a replay

    def live(self, number: int) -> SequenceStep:
        """A message came as it was published. A number that goes back is an engine that has started again."""
        is_restart = number <= self._live
        if is_restart:
            self._next = 0
        self._live = number
        if number < self._next:
            return DROP  # the replay had it
        if number == self._next:
            self._next += 1
            return SequenceStep(forgets=is_restart, applies=True)
        self._held = number
        return SequenceStep(forgets=is_restart, replay_from=self._next)

    def replayed(self, number: int) -> SequenceStep:
        """A message came from the replay; what it skips is lost."""
        if number < self._next:
            return DROP
        is_gap = number > self._next
        self._next = number + 1
        return SequenceStep(forgets=is_gap, applies=True)

    def replay_ended(self) -> SequenceStep:
        """What becomes of the message that was held back; also when there was no socket to ask."""
        held, self._held = self._held, None
        if held is None or held < self._next:
            return DROP
        is_gap = held > self._next
        self._next = held + 1
        return SequenceStep(forgets=is_gap, applies=True)
