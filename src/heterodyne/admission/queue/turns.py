"""Lines by their counters, the smallest first: a heap in which what is out of date is passed by, and swept out."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace

from heterodyne.admission.queue.line import Entry, Line

STALE_MIN = 64  # entries out of date that are not worth a sweep


class Turns:
    """Each change costs the logarithm of the number of lines."""

    __slots__ = ("_entries", "_placed", "size")

    def __init__(self) -> None:
        self.size = 0
        self._entries: list[Entry] = []
        self._placed = 0

    def join(self, line: Line) -> None:
        """One more line."""
        self.size += 1
        self._place(line)

    def leave(self, line: Line) -> None:
        """One fewer."""
        self.size -= 1
        entries = self._entries
        if entries[0] is line.entry:
            heappop(entries)
        line.entry = None

    def move(self, line: Line) -> None:
        """Its counter has changed."""
        entries = self._entries
        if entries[0] is line.entry:
            self._placed += 1
            line.entry = (line.counter, self._placed, line)
            heapreplace(entries, line.entry)
        else:
            self._place(line)

    def smallest(self) -> Line:
        """The line with the smallest counter; of equals, whoever has it longest. There must be one."""
        entries = self._entries
        while (line := entries[0][2]).entry is not entries[0]:
            heappop(entries)
        return line

    def small(self, looks_max: int) -> Iterator[Line]:
        """The smallest and some of those next to it, in no order: what a look at the front of the heap finds."""
        return (entry[2] for entry in self._entries[:looks_max] if entry[2].entry is entry)

    def ascending(self) -> Iterator[Line]:
        """All lines in order; for k of them the cost is that of k, and nothing may change meanwhile."""
        entries = self._entries
        beyond = [(entries[0], 0)] if entries else []  # entries whose parents were seen
        while beyond:
            entry, at = heappop(beyond)
            if entry[2].entry is entry:
                yield entry[2]
            for child in (2 * at + 1, 2 * at + 2):
                if child < len(entries):
                    heappush(beyond, (entries[child], child))

    def _place(self, line: Line) -> None:
        self._placed += 1
        line.entry = (line.counter, self._placed, line)
        heappush(self._entries, line.entry)
        if len(self._entries) > 2 * self.size + STALE_MIN:
            self._entries = [entry for entry in self._entries if entry[2].entry is entry]
            heapify(self._entries)
