"""Where a request stands in the fair order, and how long that is expected to take."""

from collections.abc import Sequence

from heterodyne.admission.queue.class_lines import ClassLines
from heterodyne.admission.queue.snapshot import Place
from heterodyne.admission.queue.waiting import Waiting


def place(
    waiting: Waiting, own: ClassLines, above: Sequence[ClassLines], *, drain_per_s: float, turning_per_s: float
) -> Place:
    """An estimate in one pass over the tenants; a request that does not wait yet is taken to join at the end.

    Its line is served when its tenant's counter has risen by what the tenant has before it. By then every other tenant
    of the class has had as much by weight, or all it has; and classes above are empty. That is the least. Whoever comes
    later with more weight goes first too, which shows in what lines have been given lately, over their weight. With a
    busy class above, the truth is longer. Under DLPM the order differs from this within a quantum.
    """
    line = own.find(waiting.tenant)
    position, ahead = 1.0, 0.0
    reached = own.order.floor
    if line is not None:
        for earlier in line.waiting:
            if earlier is waiting:
                break
            position += 1.0
            ahead += earlier.service
        reached = max(line.counter, reached) if not line.waiting else line.counter
    turns = ahead / waiting.weight
    reached += turns
    tenants, own_load = 1, (ahead + waiting.service) / waiting.weight
    load = own_load
    for other in own.waiting_lines():
        if other is line:
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
    return Place(
        position=int(position),
        service_ahead=ahead,
        wait_s=max(ahead / drain_per_s, turns / turning_per_s),
        part=min(1.0, own_load * tenants / load),
    )
