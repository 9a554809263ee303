"""Pure: from what a cluster says of a pool to the replicas that are wanted of it, and what is wrong with them."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from heterodyne.config.fields import POOLS, dotted
from heterodyne.config.settings import Settings
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveryProblem, FoundReplica
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator, accelerators, with_overrides
from heterodyne.planning.manifests.node_chip import NodeChip, has_accelerator, node_chip
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.supervisor.fleet.reconcile import FleetMember

ReplicaAddress = tuple[str, int]


class WantedReplicas(Struct, frozen=True, kw_only=True):
    """Of one pool."""

    members: tuple[FleetMember, ...]
    unready: frozenset[ReplicaAddress]  # of them: to be asked nothing until their cluster says otherwise
    problems: tuple[DiscoveryProblem, ...]


def wanted_replicas(settings: Settings, name: str, found: Sequence[FoundReplica]) -> WantedReplicas:
    """Endpoints that are on their way out are not wanted; those not ready are, by who has them already."""
    pool = settings.pools[name]
    members, unready, problems = [], set(), {}
    for one in found:
        if one.endpoint.is_terminating:
            continue
        chip, complaints = _chip(settings, name, one)
        problems.update({problem.text: problem for problem in complaints})
        replica = _replica(settings, name, _described(pool, one, chip), ReplicaId(one.endpoint.id))
        members.append(FleetMember(replica=replica, start_timeout_s=pool.start_timeout_s))
        if not one.endpoint.is_ready:
            unready.add(address_of(replica))
    return WantedReplicas(members=tuple(members), unready=frozenset(unready), problems=tuple(problems.values()))


def address_of(replica: Replica) -> ReplicaAddress:
    """Where it listens; of its pool no other does."""
    return replica.host, replica.port


def _replica(settings: Settings, name: str, pool: PoolSettings, id: ReplicaId) -> Replica:
    """As one of a pool that lists it alone."""
    [replica] = remote_replicas(structs.replace(settings, pools={name: pool}))
    return structs.replace(replica, id=id)


def _described(pool: PoolSettings, found: FoundReplica, hardware: str | None) -> PoolSettings:
    endpoint = found.endpoint
    labels = endpoint.labels
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    taken = {label: labels[label] for label in pool.kubernetes_labels if label in labels}
    return structs.replace(
        pool,
        urls=(f"{'https' if pool.kubernetes_tls else 'http'}://{host}:{endpoint.port}",),
        hardware=hardware,
        region=_label(pool.kubernetes_region_label, found) or pool.region,
        version=labels.get(pool.kubernetes_version_label) or pool.version,
        labels={**pool.labels, **taken},
    )


def _label(label: str, found: FoundReplica) -> str | None:
    node = {} if found.node is None else found.node.metadata.labels or {}
    return found.endpoint.labels.get(label) or node.get(label)


def _chip(settings: Settings, name: str, found: FoundReplica) -> tuple[str | None, list[DiscoveryProblem]]:
    """The accelerator by its name. The settings' word stands where the node says something else, and that is told."""
    pool, node = settings.pools[name], found.node
    if node is None:
        return pool.hardware, []
    catalogue = with_overrides(accelerators(), settings.physics.hardware)
    labels = {**(node.metadata.labels or {}), **found.endpoint.labels}
    seen = node_chip(labels, catalogue, pool.kubernetes_hardware_label)
    place = f"Node {node.metadata.name}"
    if pool.hardware is None:
        return _told(seen, place, node.status.allocatable or {}, name)
    wanted = accelerator(pool.hardware, catalogue)
    if seen.chip is not None and seen.chip.name != wanted.name:
        text = f"{place} has {seen.chip.name}, and {dotted(POOLS, name, 'hardware')} is {wanted.name}"
        return pool.hardware, [DiscoveryProblem("hardware_differs", text)]
    return pool.hardware, []


def _told(
    seen: NodeChip, place: str, allocatable: Mapping[str, str], pool: str
) -> tuple[str | None, list[DiscoveryProblem]]:
    if seen.chip is not None:
        return seen.chip.name, []
    ask = f"name it in {dotted(POOLS, pool, 'hardware')}"
    if not has_accelerator(allocatable):
        return None, [DiscoveryProblem("no_accelerator", f"{place} offers no accelerator; {ask} if the pods need none")]
    return None, [DiscoveryProblem("hardware_unknown", f"{place}: {seen.complaint}; {ask}")]
