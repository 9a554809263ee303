"""Where a request stands in the fair order, and how long that is expected to take."""

from collections.abc import Sequence

from heterodyne.admission.queue.class_queue import ClassQueue
from heterodyne.admission.queue.snapshot import QueuePosition
from heterodyne.admission.queue.waiting import Waiting


def place(
    waiting: Waiting, own: ClassQueue, above: Sequence[ClassQueue], *, drain_per_s: float, turning_per_s: float
) -> QueuePosition:
    """An estimate in one pass over the tenants; a request that does not wait yet is taken to join at the end.

    Its line is served when its tenant's counter has risen by what the tenant has before it. By then every other tenant
    of the class has had as much by weight, or all it has; and classes above are empty. That is the least. Whoever comes
    later with more weight goes first too, which shows in what lines have been given lately, over their weight. With a
    busy class above, the truth is longer. Under DLPM the order differs from this within a quantum.
    """
    tenant_queue = own.find(waiting.tenant)
    position, ahead = 1.0, 0.0
    reached = own.order.floor
    if tenant_queue is not None:
        for earlier in tenant_queue.waiting:
            if earlier is waiting:
                break
            position += 1.0
            ahead += earlier.service
        reached = max(tenant_queue.counter, reached) if not tenant_queue.waiting else tenant_queue.counter
    turns = ahead / waiting.weight
    reached += turns
    tenants, own_load = 1, (ahead + waiting.service) / waiting.weight
    load = own_load
    for other in own.waiting_tenants():
        if other is tenant_queue:
            continue
        tenants += 1
        load += other.service / other.weight
        if other.counter < reached:
            had = min(other.service, (reached - other.counter) * other.weight)
            ahead += had
            position += len(other.waiting) * had / other.service
    for higher in above:
        ahead += higher.service
        position += higher.depth
    return QueuePosition(
        position=int(position),
        service_ahead=ahead,
        wait_s=max(ahead / drain_per_s, turns / turning_per_s),
        part=min(1.0, own_load * tenants / load),
    )
