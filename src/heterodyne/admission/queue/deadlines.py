"""When the requests that wait will be too late, the soonest first."""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf

from heterodyne.admission.queue.waiting import Waiting

STALE_MIN = 64  # of requests that wait no more: not worth a sweep


class Deadlines:
    """Requests that wait no more stay in it until they surface or too many of them have gathered."""

    __slots__ = ("_added", "_entries", "_waits", "look_at_s")

    def __init__(self, waits: Callable[[Waiting], bool]) -> None:
        self._waits = waits
        self._entries: list[tuple[float, int, Waiting]] = []
        self._added = 0
        self.look_at_s = inf  # before that none is too late

    def add(self, waiting: Waiting, depth: int) -> None:
        """One more, beside `depth` that wait."""
        self._added += 1
        start_by_s = waiting.start_by_s
        heappush(self._entries, (start_by_s, self._added, waiting))
        if start_by_s < self.look_at_s:
            self.look_at_s = start_by_s
        if len(self._entries) > 2 * depth + STALE_MIN:
            self._entries = [entry for entry in self._entries if self._waits(entry[2])]
            heapify(self._entries)

    def next_s(self) -> float:
        """From this moment on one more is too late."""
        entries = self._entries
        while entries and not self._waits(entries[0][2]):
            heappop(entries)
        return entries[0][0] if entries else inf

    def pop_late(self, now_s: float) -> Waiting | None:
        """One that waits and is too late, if there is one."""
        entries = self._entries
        while entries and entries[0][0] <= now_s:
            waiting = heappop(entries)[2]
            if self._waits(waiting):
                return waiting
        self.look_at_s = entries[0][0] if entries else inf
        return None
