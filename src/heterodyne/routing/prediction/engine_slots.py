"""Pure: how many sequences an engine runs at once, where nobody has said, from its gauges and from its answers.

An engine that lets requests wait though its memory is not full has no slot for them: as many as it then runs, again and
again, are all it has. Its answers show the same sooner: first tokens come later than anything explains just where as
many decode as were ever seen to.
"""

from typing import Final

FULL_READINGS: Final = 3  # in a row that agree; one alone may have caught requests between two steps
KV_FULL: Final = 0.85  # of its memory: what waits from there on waits for memory
LATE: Final = 1.5  # times what was foretold: what no slot was free for
LATE_ANSWERS: Final = 3.0
IN_TIME: Final = 0.5  # answers that were late, that one in time at the same place speaks against
FORGOTTEN_S: Final = 120.0  # without a request that waited: it may be another by now


class EngineSlots:
    """One per pool: its replicas are equal, so what one of them shows holds for all."""

    __slots__ = ("_agreed", "_late", "_seen_at_s", "_seen_full", "most", "slots")

    def __init__(self) -> None:
        self.slots: int | None = None  # None: not found, or not limited by them
        self.most = 1  # sequences of ours that ever decoded at once on a replica
        self._late = 0.0  # answers that came late where so many did
        self._seen_full = 0  # sequences that ran while others waited, when that was last seen
        self._agreed = 0  # readings that said so, in a row
        self._seen_at_s = 0.0

    def learn(self, running: int, waiting: int, kv_share: float | None, now_s: float) -> None:
        """One reading of a replica's gauges."""
        if self.slots is not None and (running > self.slots or now_s - self._seen_at_s > FORGOTTEN_S):
            self.slots = None
        if not waiting or not running or (kv_share is not None and kv_share > KV_FULL):
            return
        self._agreed = self._agreed + 1 if running == self._seen_full else 1
        self._seen_full, self._seen_at_s = running, now_s
        if self._agreed >= FULL_READINGS:
            self.slots = running

    def on_full(self, decoding: int, lateness: float, now_s: float) -> None:
        """A first token came, so many times as late as was foretold, and with it as many decode as ever, or more."""
        if decoding > self.most:
            self.most, self._late = decoding, 0.0
            if self.slots is not None and decoding > self.slots:
                self.slots = None
            return
        self._late = self._late + 1.0 if lateness > LATE else max(0.0, self._late - IN_TIME)
        if self.slots is not None:
            self._seen_at_s = now_s
        elif self._late >= LATE_ANSWERS:
            self.slots, self._seen_at_s = decoding, now_s
