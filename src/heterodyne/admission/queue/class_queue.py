"""The lines of one class: those with requests, and those whose counters are remembered although they are empty."""

from collections.abc import Iterator
from heapq import nsmallest

from heterodyne.admission.queue.drain import Drain
from heterodyne.admission.queue.order import QueueOrder
from heterodyne.admission.queue.tenant_queue import TenantQueue
from heterodyne.admission.queue.waiting import Waiting

IDLE_MAX = 10_000  # tenants in debt without a request that a sweep leaves
SWEEP_MIN = 64


class ClassQueue:
    """Every line is in the order while it is not empty; else it is idle, until it can be forgotten."""

    __slots__ = (
        "_sweep_at",
        "_tenant_queues",
        "_turned",
        "_weight",
        "credit",
        "depth",
        "order",
        "service",
        "share",
        "turning",
    )

    def __init__(self, order: QueueOrder, share: float, turning_per_s_prior: float) -> None:
        self.order = order
        self.turning = Drain(turning_per_s_prior)  # what a line that always waits is given in a second, over its weight
        self._turned = 0.0  # of that, not yet passed to it
        self._weight = 0.0  # of all lines that are not empty
        self.share = share  # of what goes to classes above that this one may have while it waits
        self.credit = 0.0  # how much of that it has not had
        self.depth = 0
        self.service = 0.0  # of all that wait
        self._tenant_queues: dict[str, TenantQueue] = {}
        self._sweep_at = SWEEP_MIN

    def find(self, tenant: str) -> TenantQueue | None:
        """The tenant's line, if it is remembered."""
        return self._tenant_queues.get(tenant)

    def waiting_tenants(self) -> Iterator[TenantQueue]:
        """Those that are not empty, in no order."""
        return (tenant_queue for tenant_queue in self._tenant_queues.values() if tenant_queue.waiting)

    def __contains__(self, waiting: Waiting) -> bool:
        tenant_queue = self._tenant_queues.get(waiting.tenant)
        return tenant_queue is not None and waiting in tenant_queue.waiting

    def __len__(self) -> int:
        """Tenants that are remembered."""
        return len(self._tenant_queues)

    def add(self, waiting: Waiting) -> None:
        """One more at the end of its tenant's line."""
        order, tenant = self.order, waiting.tenant
        tenant_queue = self._tenant_queues.get(tenant) or self._remember(tenant)
        if not tenant_queue.waiting:
            if tenant_queue.counter < order.floor:
                tenant_queue.counter = order.floor
            order.join(tenant_queue)
            self._weight += waiting.weight
        else:
            self._weight += waiting.weight - tenant_queue.weight
        tenant_queue.waiting[waiting] = None
        tenant_queue.service += waiting.service
        tenant_queue.weight = waiting.weight
        self.depth += 1
        self.service += waiting.service

    def drop(self, waiting: Waiting) -> TenantQueue:
        """One fewer, wherever it stands."""
        tenant_queue = self._tenant_queues[waiting.tenant]
        if tenant_queue.passed and waiting is tenant_queue.head:
            tenant_queue.passed = 0
        if tenant_queue.pick is waiting:
            tenant_queue.pick = None
        del tenant_queue.waiting[waiting]
        if tenant_queue.waiting:
            tenant_queue.service -= waiting.service
        else:
            tenant_queue.service = 0.0  # nothing is left of rounding
            self._weight -= tenant_queue.weight
            self.order.leave(tenant_queue)
        self.depth -= 1
        if self.depth:
            self.service -= waiting.service
        else:
            self.service = self.credit = self._weight = 0.0
        return tenant_queue

    def serve(self, tenant_queue: TenantQueue, waiting: Waiting) -> None:
        """One fewer: its turn has come, and its tenant is charged what is predicted."""
        self.order.advance(tenant_queue)
        self._turned += waiting.service / self._weight
        self.drop(waiting)
        tenant_queue.counter += waiting.service / waiting.weight
        if tenant_queue.waiting:
            self.order.move(tenant_queue)

    def note_turn(self, now_s: float) -> None:
        """One of the class has started."""
        turned, self._turned = self._turned, 0.0
        self.turning.add(turned, now_s, others_wait=self.depth > 0)

    def correct(self, tenant: str, counter_change: float) -> None:
        """What a tenant has had was more or less than thought; one that is forgotten has its floor."""
        tenant_queue = self._tenant_queues.get(tenant) or self._remember(tenant)
        tenant_queue.counter += counter_change
        if tenant_queue.waiting:
            self.order.move(tenant_queue)

    def _remember(self, tenant: str) -> TenantQueue:
        if len(self._tenant_queues) >= self._sweep_at:
            self._forget()
        tenant_queue = self._tenant_queues[tenant] = TenantQueue(tenant, self.order.floor)
        return tenant_queue

    def _forget(self) -> None:
        """Idle lines at the floor, where they would be lifted to anyway; and where too many are above it, the lowest.

        It looks at all of them, but only when there are twice as many as were left the last time.
        """
        floor = self.order.floor
        idle = [tenant_queue for tenant_queue in self._tenant_queues.values() if not tenant_queue.waiting]
        owing = [tenant_queue for tenant_queue in idle if tenant_queue.counter > floor]
        forgotten = [tenant_queue for tenant_queue in idle if tenant_queue.counter <= floor]
        forgotten += nsmallest(len(owing) - IDLE_MAX, owing, key=lambda tenant_queue: tenant_queue.counter)
        for tenant_queue in forgotten:
            del self._tenant_queues[tenant_queue.tenant]
        self._sweep_at = 2 * len(self._tenant_queues) + SWEEP_MIN
