"""Fair in the long run, warm in the short: among tenants with a deficit, the longest cached prefix is next.

Every waiting tenant may have a quantum x weight of service; when none has any left, each gets another. The deficit is
kept as its distance from a level that all share: weight x (level - counter). A refill raises the level by the quantum.
So with D(u) as in `vtc`, every counter lies between level - quantum and level + D(u), and of two tenants that both wait
all the time the services over weights differ, in any interval, by at most

    2 x quantum + D(u) + D(v)

Prefixes are looked up for a bounded number of requests: the first few of each tenant, of tenants by and large with the
largest deficits. Within a tenant the first that came is overtaken at most so often by others of its own.
"""

from collections.abc import Iterator
from itertools import islice
from math import floor

from heterodyne.admission.queue.counter_heap import CounterHeap
from heterodyne.admission.queue.tenant_queue import TenantQueue
from heterodyne.admission.queue.waiting import Waiting

LOOKS_MAX = 96  # prefixes looked up in one turn
DEPTH_MAX = 8  # of them of one tenant
JUMPS_MAX = 32  # times that a request is overtaken by others of its tenant


class Dlpm(CounterHeap):
    """Larger quanta find more of their prefixes, smaller ones are fairer over short times."""

    __slots__ = ("_level", "_looks_max", "_quantum", "floor")

    def __init__(self, *, quantum: float, looks_max: int = LOOKS_MAX) -> None:
        super().__init__()
        assert quantum > 0.0
        self._quantum = quantum
        self._looks_max = looks_max
        self._level = quantum
        self.floor = 0.0

    def first(self) -> TenantQueue:
        """The line with the longest cached prefix of those with a deficit, which becomes its head."""
        smallest = self.smallest()
        self._refill(smallest)
        depth = min(DEPTH_MAX, self._looks_max // self.size) or 1
        best, most_tokens = smallest, _pick(smallest, depth)
        for tenant_queue in self.small(self._looks_max):
            if tenant_queue.counter < self._level and tenant_queue is not smallest:
                tokens = _pick(tenant_queue, depth)
                if tokens > most_tokens:
                    best, most_tokens = tenant_queue, tokens
        return best

    def in_turn(self) -> Iterator[TenantQueue]:
        """The first, then by counter."""
        first = self.first()
        yield first
        for tenant_queue in self.ascending():
            if tenant_queue is not first:
                yield tenant_queue

    def pass_by(self, tenant_queue: TenantQueue, taken: TenantQueue) -> None:
        """One quantum is all that it can have saved up."""
        self._refill(taken)
        if tenant_queue.counter < self.floor:
            tenant_queue.counter = self.floor
            self.move(tenant_queue)

    def advance(self, tenant_queue: TenantQueue) -> None:
        """A tenant served without a deficit, because no other can go, has one from here."""
        self._refill(tenant_queue)
        tenant_queue.jumped = tenant_queue.jumped + 1 if tenant_queue.pick is not None else 0

    def _refill(self, tenant_queue: TenantQueue) -> None:
        """As many quanta as give the line a deficit."""
        behind = tenant_queue.counter - self._level
        if behind >= 0.0:
            self._level += self._quantum * (floor(behind / self._quantum) + 1)
            self.floor = self._level - self._quantum


def _pick(tenant_queue: TenantQueue, depth: int) -> float:
    """Make the warmest of the first few the line's head, and say how warm it is; of equals the first that came."""
    tenant_queue.pick = None
    if depth == 1 or tenant_queue.jumped >= JUMPS_MAX or len(tenant_queue.waiting) == 1:
        return _cached_tokens(next(iter(tenant_queue.waiting)))
    looked_at = islice(tenant_queue.waiting, depth)
    most_tokens = _cached_tokens(next(looked_at))
    for waiting in looked_at:
        tokens = _cached_tokens(waiting)
        if tokens > most_tokens:
            tenant_queue.pick, most_tokens = waiting, tokens
    return most_tokens


def _cached_tokens(waiting: Waiting) -> float:
    return 0.0 if waiting.cached_tokens is None else waiting.cached_tokens()
