"""Pure: from the replicas that run and those that are wanted to those that stay, come and go.

An id belongs to one engine for as long as it runs. A replica whose address, weights or engine settings are others is
another replica with an id of its own, so that the new one can take work before the old one stops taking it.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.fleet.child_order import ChildOrder
from heterodyne.supervisor.configured_replicas import LocalReplica


class FleetMember(Struct, frozen=True, kw_only=True):
    """One replica of the fleet."""

    replica: Replica
    order: ChildOrder | None = None  # None: it was started elsewhere
    start_timeout_s: float = 10.0  # how long others wait for it to be ready before they leave
    is_added: bool = False  # while running; the settings do not know it
    is_driven: bool = False  # it comes and goes by its driver, whatever is reloaded


class ReconcilePlan(Struct, frozen=True, kw_only=True):
    """What to do."""

    retained: tuple[FleetMember, ...]  # as the settings describe them now
    added: tuple[FleetMember, ...]
    removed: tuple[FleetMember, ...]
    changed: tuple[ReplicaId, ...]  # of those that stay, the ones that are described otherwise


def members(remote: Iterable[Replica], local: Iterable[LocalReplica]) -> tuple[FleetMember, ...]:
    """What the settings ask for."""
    return (
        *(FleetMember(replica=one.replica, order=one.order, start_timeout_s=one.start_timeout_s) for one in local),
        *(FleetMember(replica=replica) for replica in remote),
    )


def reconcile(
    running: Sequence[FleetMember], wanted: Sequence[FleetMember], taken: Iterable[ReplicaId] = ()
) -> ReconcilePlan:
    """`taken` are ids of replicas on their way out, which no other may have meanwhile."""
    left = list(running)
    ids = {member.replica.id for member in running} | set(taken)
    retained, added, changed = [], [], []
    for member in wanted:
        known = _pop_same(left, member)
        if known is None:
            id = free_id(member.replica.pool, ids, preferred=member.replica.id)
            ids.add(id)
            added.append(structs.replace(member, replica=structs.replace(member.replica, id=id)))
            continue
        kept = structs.replace(
            member,
            replica=structs.replace(member.replica, id=known.replica.id, port=known.replica.port),
            order=known.order,
        )
        retained.append(kept)
        if kept.replica != known.replica:
            changed.append(kept.replica.id)
    return ReconcilePlan(retained=tuple(retained), added=tuple(added), removed=tuple(left), changed=tuple(changed))


def free_id(pool: PoolName, taken: Iterable[ReplicaId], *, preferred: ReplicaId | None = None) -> ReplicaId:
    """An id that is not taken."""
    taken = set(taken)
    if preferred is not None and preferred not in taken:
        return preferred
    index = 0
    while (id := ReplicaId(f"{pool}-{index}")) in taken:
        index += 1
    return id


def _pop_same(running: list[FleetMember], member: FleetMember) -> FleetMember | None:
    """The first that is the same engine, taken out of the list; with the same id where there are several."""
    same = [one for one in running if _engine(one) == _engine(member)]
    if not same:
        return None
    found = next((one for one in same if one.replica.id == member.replica.id), same[0])
    running.remove(found)
    return found


def _engine(member: FleetMember) -> tuple[object, ...]:
    """What makes it this engine and no other; the port of one started here is chosen when it starts."""
    replica, order = member.replica, member.order
    address = (
        (replica.host, replica.port, replica.tls, replica.tls_files, replica.base_path)
        if order is None
        else (structs.replace(order, port=0),)
    )
    return (
        replica.pool,
        replica.model,
        replica.engine,
        replica.engine_model,
        replica.api_key_env,
        replica.hardware,
        *address,
    )
