"""Fair by service: a virtual token counter per tenant, and the smallest is next.

A tenant that begins to wait is lifted to the floor: the smallest counter at the last turn. So with D(u) = the largest
service of a request of u over its weight, every counter lies between the floor and the floor + D(u), and of two tenants
that both wait all the time the services over weights differ, in any interval, by at most

    D(u) + D(v)    <=    2 x largest service / smallest weight

A request of u with service S of its own tenant before it is overtaken by at most weight(v) x (S / weight(u) + D(u)) +
(largest service of v) of each other tenant v. Corrections move a counter by what the prediction was wrong by, and both
bounds by the errors that are still unknown. Tenants held back by their share of memory are outside of both.
"""

from collections.abc import Iterator

from heterodyne.admission.queue.counter_heap import CounterHeap
from heterodyne.admission.queue.tenant_queue import TenantQueue


class Vtc(CounterHeap):
    """The order that cares for nothing but fairness."""

    __slots__ = ("floor",)

    def __init__(self) -> None:
        super().__init__()
        self.floor = 0.0

    first = CounterHeap.smallest

    def in_turn(self) -> Iterator[TenantQueue]:
        """By counter."""
        return self.ascending()

    def pass_by(self, tenant_queue: TenantQueue, taken: TenantQueue) -> None:
        """It stands where the one stands that goes before it."""
        if tenant_queue.counter < taken.counter:
            tenant_queue.counter = taken.counter
            self.move(tenant_queue)

    def advance(self, tenant_queue: TenantQueue) -> None:
        """The floor rises to the smallest counter; after a refund that may be below it, and the floor stays."""
        counter = tenant_queue.counter if self._entries[0] is tenant_queue.entry else self.smallest().counter
        if counter > self.floor:
            self.floor = counter
