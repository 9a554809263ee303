"""The requests that wait for one model when its pool is full: classes first, then tenants by what they have had."""

from collections.abc import Callable, Mapping
from heapq import nlargest
from itertools import islice
from math import ceil, inf

from heterodyne.admission.queue.class_queue import ClassQueue
from heterodyne.admission.queue.deadlines import Deadlines
from heterodyne.admission.queue.drain import Drain
from heterodyne.admission.queue.order import QueueOrder
from heterodyne.admission.queue.position import place
from heterodyne.admission.queue.snapshot import ClassWaiting, QueuePosition, QueueSnapshot, TenantWaiting
from heterodyne.admission.queue.tenant_queue import TenantQueue
from heterodyne.admission.queue.vtc import Vtc
from heterodyne.admission.queue.waiting import CanStart, StartVerdict, Waiting
from heterodyne.domain.errors import QueueFull
from heterodyne.domain.urgency import Urgency

# Users wait for batch work, if not now: it trickles through under any load. None waits for background work.
CLASS_SHARES: Mapping[Urgency, float] = {Urgency.BATCH: 0.05, Urgency.BACKGROUND: 0.0}

KV_SHARE_MAX = 0.5
TRIES_MAX = 16  # tenants asked in one turn
PASSED_MAX = 64  # times others may go before a request that only some replicas can serve
CHARGE_LEAST = 0.01  # of the prediction is kept whatever happened, or a tenant that always cancels would always be next
RETRY_AFTER_MAX_S = 60
TENANTS_SHOWN = 20


class FairQueue:
    """One per model and worker. `queue_max` bounds each class, so that a flood of batch work fills only its own."""

    def __init__(
        self,
        model: str,
        *,
        queue_max: int,
        tenant_queue_max: int,
        order: Callable[[], QueueOrder] = Vtc,
        kv_share_max: float = KV_SHARE_MAX,
        drain_per_s_prior: float = 1.0,
        class_shares: Mapping[Urgency, float] = CLASS_SHARES,
    ) -> None:
        self._model = model
        self._queue_max = queue_max
        self._tenant_queue_max = tenant_queue_max
        self._kv_share_max = kv_share_max
        self._kv_room = 0.0  # that one tenant may hold while others wait; 0: not known
        self._classes = {
            urgency: ClassQueue(order(), class_shares.get(urgency, 0.0), drain_per_s_prior) for urgency in Urgency
        }
        self._in_order = tuple(self._classes.values())  # as Urgency lists them: the most urgent first
        self._depth = 0
        self._deadlines = Deadlines(self.__contains__)
        self._drain = Drain(drain_per_s_prior)
        self._expired: dict[Waiting, None] = {}  # out of line, not yet collected
        self._running: dict[Waiting, float | None] = {}  # what each is charged; None: it never waited
        self._kv_held: dict[str, float] = {}

    def resize(self, *, queue_max: int, tenant_queue_max: int, kv_tokens: float) -> None:
        """Other bounds from the next request on, and the KV memory of the replicas that serve the model now."""
        self._queue_max, self._tenant_queue_max = queue_max, tenant_queue_max
        self._kv_room = self._kv_share_max * kv_tokens

    # Those that wait.

    def __len__(self) -> int:
        """All that wait, and those too late that have not been collected yet."""
        return self._depth + len(self._expired)

    def __contains__(self, waiting: Waiting) -> bool:
        return waiting in self._classes[waiting.urgency]

    def push(self, waiting: Waiting, now_s: float) -> None:
        """Wait from here; raises `QueueFull` where the class or the tenant has as many waiting as may."""
        assert waiting.weight > 0.0
        assert 0.0 < waiting.service < inf
        class_queue = self._classes[waiting.urgency]
        if class_queue.depth + len(self._expired) >= self._queue_max:
            raise self._full(waiting, class_queue.depth, f"{waiting.urgency.value} requests", now_s)
        tenant_queue = class_queue.find(waiting.tenant)
        if tenant_queue is not None and len(tenant_queue.waiting) >= self._tenant_queue_max:
            raise self._full(
                waiting, len(tenant_queue.waiting), f"{waiting.urgency.value} requests of this tenant", now_s
            )
        if not self._depth:
            self._drain.begin(now_s)
        if not class_queue.depth:
            class_queue.turning.begin(now_s)
        self._depth += 1
        class_queue.add(waiting)
        if waiting.deadline_s < inf:
            self._deadlines.add(waiting, self._depth)

    def remove(self, waiting: Waiting) -> bool:
        """Its client has left; whether it still waited."""
        if waiting in self._expired:
            del self._expired[waiting]
            return True
        if waiting not in self:
            return False
        self._drop(waiting)
        return True

    def all_waiting(self) -> list[Waiting]:
        """All that wait, in no order."""
        waiting = [
            one
            for class_queue in self._in_order
            for tenant_queue in class_queue.waiting_tenants()
            for one in tenant_queue.waiting
        ]
        return [*waiting, *self._expired]

    def expire(self, now_s: float) -> list[Waiting]:
        """Take out those whose deadline has passed or can no longer be kept."""
        self._set_late_aside(now_s)
        expired = list(self._expired)
        self._expired.clear()
        return expired

    def next_expiry_s(self) -> float:
        """When `expire` will find something; infinity: never."""
        return self._deadlines.next_s()

    # Whose turn it is.

    def try_take(self, can_start: CanStart, now_s: float) -> Waiting | None:
        """The next that can start, which then runs: it is charged and its memory counted. None: none may start.

        A request for which the pool has no room stops the queue, for what is small would else always go first. A tenant
        with its share of the memory makes way while another of its class can use it; alone it may have everything.
        """
        if now_s >= self._deadlines.look_at_s:
            self._set_late_aside(now_s)
        if self._depth > self._in_order[0].depth:
            for class_queue in self._in_order[1:]:
                if class_queue.credit and self._is_due(class_queue):
                    taken = self._try_class(class_queue, can_start)
                    if isinstance(taken, Waiting):
                        return self._started(class_queue, taken, now_s)
        for class_queue in self._in_order:
            if class_queue.depth:
                taken = self._try_class(class_queue, can_start)
                if isinstance(taken, Waiting):
                    return self._started(class_queue, taken, now_s)
                if taken is StartVerdict.NONE:
                    return None
        return None

    # Those that run.

    def start(self, waiting: Waiting) -> None:
        """It runs and never waited: its memory counts, but none was kept from anything, so it is not charged."""
        self._running[waiting] = None
        self._hold(waiting)

    def correct(self, waiting: Waiting, service: float) -> None:
        """The service of one that runs, as far as it is known now."""
        charged = self._running[waiting]
        if charged is None:
            return
        service = max(service, CHARGE_LEAST * waiting.service)
        if service != charged:
            self._running[waiting] = service
            self._classes[waiting.urgency].correct(waiting.tenant, (service - charged) / waiting.weight)

    def end(self, waiting: Waiting, service: float) -> None:
        """It is over, by whatever cause, and took this much; what it was charged beyond that is given back."""
        self.correct(waiting, service)
        del self._running[waiting]
        left = self._kv_held.get(waiting.tenant, 0.0) - waiting.kv_tokens
        if left > 1e-6:  # of a token: rounding
            self._kv_held[waiting.tenant] = left
        else:
            self._kv_held.pop(waiting.tenant, None)

    # Its state.

    def place(self, waiting: Waiting, now_s: float) -> QueuePosition:
        """Where it stands, or would stand if it were pushed now."""
        own = self._classes[waiting.urgency]
        above = self._in_order[: self._in_order.index(own)]
        return place(waiting, own, above, drain_per_s=self._drain.per_s(now_s), turning_per_s=own.turning.per_s(now_s))

    def depth(self, urgency: Urgency) -> int:
        """How many of the class wait."""
        return self._classes[urgency].depth

    def comes_first(self, urgency: Urgency) -> bool:
        """Whether none waits that a new request of this class would have to wait for."""
        for one, class_queue in self._classes.items():
            if class_queue.depth:
                return False
            if one is urgency:
                break
        return not self._expired

    def tenant_depth(self, tenant: str, urgency: Urgency) -> int:
        """How many of the tenant wait in the class."""
        tenant_queue = self._classes[urgency].find(tenant)
        return 0 if tenant_queue is None else len(tenant_queue.waiting)

    def fill(self, urgency: Urgency) -> float:
        """How full the queue of the class is, from 0 to 1."""
        return self._classes[urgency].depth / self._queue_max

    def wait_s(self, urgency: Urgency, now_s: float) -> float:
        """How long all that wait in the class will take."""
        return self._classes[urgency].service / self._drain.per_s(now_s)

    def snapshot(self, now_s: float) -> QueueSnapshot:
        """All of it, but of many tenants those with the most requests."""
        return QueueSnapshot(
            model=self._model,
            depth=len(self),
            drain_per_s=self._drain.per_s(now_s),
            running=len(self._running),
            kv_held_tokens=sum(self._kv_held.values()),
            classes=tuple(_class_snapshot(urgency, class_queue) for urgency, class_queue in self._classes.items()),
        )

    def _set_late_aside(self, now_s: float) -> None:
        while (late := self._deadlines.pop_late(now_s)) is not None:
            self._drop(late)
            self._expired[late] = None

    def _drop(self, waiting: Waiting) -> None:
        class_queue = self._classes[waiting.urgency]
        class_queue.drop(waiting)
        if not class_queue.depth:
            class_queue.turning.stop()
        self._depth -= 1
        if not self._depth:
            self._drain.stop()

    def _is_due(self, class_queue: ClassQueue) -> bool:
        """Whether the class has earned its next request; it earns no more than that."""
        first = class_queue.order.first()
        if class_queue.credit < first.head.service:
            return False
        class_queue.credit = first.head.service
        return True

    def _try_class(self, class_queue: ClassQueue, can_start: CanStart) -> Waiting | StartVerdict:
        """One of the class, served; or whether others may be asked."""
        order = class_queue.order
        tenant_queue = order.first()
        head = tenant_queue.head
        if order.size == 1 or not self._has_its_share(head):
            room = can_start(head)
            if room is StartVerdict.YES:
                class_queue.serve(tenant_queue, head)
                return head
            if room is StartVerdict.NONE or order.size == 1:
                return room
        return self._try_others(class_queue, can_start)

    def _try_others(self, class_queue: ClassQueue, can_start: CanStart) -> Waiting | StartVerdict:
        """The same where the first cannot go."""
        full_of: list[TenantQueue] = []  # lines of tenants with their share of memory
        passed: list[TenantQueue] = []
        for tenant_queue in islice(class_queue.order.in_turn(), TRIES_MAX):
            head = tenant_queue.head
            if self._has_its_share(head):
                full_of.append(tenant_queue)
                continue
            room = can_start(head)
            if room is StartVerdict.YES:
                for other in full_of:
                    class_queue.order.pass_by(other, tenant_queue)
                return _serve(class_queue, tenant_queue, passed)
            if room is StartVerdict.NONE or tenant_queue.passed >= PASSED_MAX:
                return StartVerdict.NONE
            passed.append(tenant_queue)
        # No other tenant can use the memory, so it need not be left free for them.
        for tenant_queue in full_of:
            room = can_start(tenant_queue.head)
            if room is StartVerdict.YES:
                return _serve(class_queue, tenant_queue, passed)
            if room is StartVerdict.NONE:
                return room
        return StartVerdict.NOT_FOR_IT

    def _has_its_share(self, waiting: Waiting) -> bool:
        """Whether the tenant would hold too much; with nothing in flight it never does, or giants would starve."""
        if not self._kv_room:
            return False
        held = self._kv_held.get(waiting.tenant, 0.0)
        return held > 0.0 and held + waiting.kv_tokens > self._kv_room

    def _started(self, class_queue: ClassQueue, waiting: Waiting, now_s: float) -> Waiting:
        service = waiting.service
        self._depth -= 1
        if class_queue.credit:
            class_queue.credit = max(0.0, class_queue.credit - service)
        if self._depth > class_queue.depth:
            self._credit_below(class_queue, service)
        self._drain.add(service, now_s, others_wait=self._depth > 0)
        class_queue.note_turn(now_s)
        self._running[waiting] = service
        self._hold(waiting)
        return waiting

    def _credit_below(self, class_queue: ClassQueue, service: float) -> None:
        for lower in self._in_order[self._in_order.index(class_queue) + 1 :]:
            if lower.depth:
                lower.credit += lower.share * service

    def _hold(self, waiting: Waiting) -> None:
        if waiting.kv_tokens:
            self._kv_held[waiting.tenant] = self._kv_held.get(waiting.tenant, 0.0) + waiting.kv_tokens

    def _full(self, waiting: Waiting, depth: int, whose: str, now_s: float) -> QueueFull:
        class_queue = self._classes[waiting.urgency]
        half_s = 0.5 * class_queue.service / self._drain.per_s(now_s)
        return QueueFull(
            f"{depth} {whose} already wait for {self._model!r}, as many as may; try again when some of them are done.",
            retry_after_s=min(RETRY_AFTER_MAX_S, max(1, ceil(half_s))),
        )


def _serve(class_queue: ClassQueue, tenant_queue: TenantQueue, passed: list[TenantQueue]) -> Waiting:
    head = tenant_queue.head
    class_queue.serve(tenant_queue, head)
    for other in passed:
        other.passed += 1
    return head


def _class_snapshot(urgency: Urgency, class_queue: ClassQueue) -> ClassWaiting:
    most = nlargest(TENANTS_SHOWN, class_queue.waiting_tenants(), key=lambda tenant_queue: len(tenant_queue.waiting))
    return ClassWaiting(
        urgency=urgency,
        depth=class_queue.depth,
        service=class_queue.service,
        tenants_waiting=class_queue.order.size,
        tenants_remembered=len(class_queue),
        tenants=tuple(
            TenantWaiting(
                tenant=tenant_queue.tenant,
                depth=len(tenant_queue.waiting),
                service=tenant_queue.service,
                counter=tenant_queue.counter - class_queue.order.floor,
            )
            for tenant_queue in most
        ),
    )
