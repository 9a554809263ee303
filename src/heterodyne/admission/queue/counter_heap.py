"""Lines by their counters, the smallest first: a heap in which what is out of date is passed by, and swept out."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, heapreplace

from heterodyne.admission.queue.tenant_queue import Entry, TenantQueue

STALE_MIN = 64  # entries out of date that are not worth a sweep


class CounterHeap:
    """Each change costs the logarithm of the number of lines."""

    __slots__ = ("_entries", "_placed", "size")

    def __init__(self) -> None:
        self.size = 0
        self._entries: list[Entry] = []
        self._placed = 0

    def join(self, tenant_queue: TenantQueue) -> None:
        """One more line."""
        self.size += 1
        self._place(tenant_queue)

    def leave(self, tenant_queue: TenantQueue) -> None:
        """One fewer."""
        self.size -= 1
        entries = self._entries
        if entries[0] is tenant_queue.entry:
            heappop(entries)
        tenant_queue.entry = None

    def move(self, tenant_queue: TenantQueue) -> None:
        """Its counter has changed."""
        entries = self._entries
        if entries[0] is tenant_queue.entry:
            self._placed += 1
            tenant_queue.entry = (tenant_queue.counter, self._placed, tenant_queue)
            heapreplace(entries, tenant_queue.entry)
        else:
            self._place(tenant_queue)

    def smallest(self) -> TenantQueue:
        """The line with the smallest counter; of equals, the one that has it longest. There must be one."""
        entries = self._entries
        while (tenant_queue := entries[0][2]).entry is not entries[0]:
            heappop(entries)
        return tenant_queue

    def small(self, looks_max: int) -> Iterator[TenantQueue]:
        """The smallest and some of those next to it, in no order: what a look at the front of the heap finds."""
        return (entry[2] for entry in self._entries[:looks_max] if entry[2].entry is entry)

    def ascending(self) -> Iterator[TenantQueue]:
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

    def _place(self, tenant_queue: TenantQueue) -> None:
        self._placed += 1
        tenant_queue.entry = (tenant_queue.counter, self._placed, tenant_queue)
        heappush(self._entries, tenant_queue.entry)
        if len(self._entries) > 2 * self.size + STALE_MIN:
            self._entries = [entry for entry in self._entries if entry[2].entry is entry]
            heapify(self._entries)
