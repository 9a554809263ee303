"""Builds the fleet's owner: replicas, workers, reloads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heterodyne.config.settings import Settings
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.fleet.kubernetes.api import KubernetesApi
from heterodyne.fleet.kubernetes.driver import KubernetesDriver
from heterodyne.fleet.kubernetes.pool_discovery import FoundReplica
from heterodyne.ports.fleet_driver import FleetDriver
from heterodyne.supervisor.fleet.cluster_pools import scaled_pools
from heterodyne.supervisor.fleet.discovered_fleet import DiscoveredFleet
from heterodyne.supervisor.fleet.discovered_replicas import wanted_replicas
from heterodyne.supervisor.fleet.discovery import DiscoveryWatch, cluster_access
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.fleet.fleet_reload import Fetch, FleetReload, OnSettings, Reread
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet, ordered
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember
from heterodyne.supervisor.workers.decision_client import DecisionClient
from heterodyne.supervisor.workers.order import WorkerPlaces
from heterodyne.supervisor.workers.workers import Workers

WORKER_MODULE = "heterodyne.assembly.worker"


def build_fleet_owner(
    began: Settings,
    settings: Settings,
    wanted: Sequence[FleetMember],
    *,
    run_dir: Path,
    places: WorkerPlaces,
    tenants: TenantSnapshot,
    splits: Mapping[str, RolloutSplit],
    drops: tuple[CacheDrop, ...],
    weights: Mapping[str, Path],
    reread: Reread,
    fetch: Fetch,
    on_settings: OnSettings,
    drivers: Sequence[FleetDriver] = (),
) -> FleetOwner:
    """`began` is what was read at the start, `settings` the same with what the system chose, such as a port."""
    replicas = [ManagedReplica(member) for member in wanted]
    workers = Workers(
        settings, ordered(replicas), run_dir, places, tenants, module=WORKER_MODULE, splits=splits, drops=drops
    )
    fleet = ManagedFleet(settings, replicas, workers)
    discovered = DiscoveredFleet(fleet)
    discovery = DiscoveryWatch(lambda: fleet.settings, discovered, run_dir)
    cluster = build_cluster_driver(fleet, discovery, run_dir)

    def on_reload(new: Settings, weights: Mapping[str, Path]) -> None:
        cluster.take(scaled_pools(new))
        on_settings(new, weights)

    reload = FleetReload(
        began,
        fleet,
        wanted=wanted,
        weights=weights,
        reread=reread,
        fetch=fetch,
        on_settings=on_reload,
        discovered=discovered.members,
    )
    return FleetOwner(
        fleet, reload, DecisionClient(run_dir, workers.running), discovery=discovery, cluster=cluster, drivers=drivers
    )


async def answer_keda(owner: FleetOwner) -> None:
    """Until cancelled; nothing where no port is set."""
    fleet = owner.settings.fleet
    if fleet.keda_port is None:
        return
    from heterodyne.fleet.kubernetes.keda.server import serve_keda  # noqa: PLC0415  # an extra

    await serve_keda(fleet.keda_host, fleet.keda_port, owner.cluster.told)


def build_cluster_driver(fleet: ManagedFleet, discovery: DiscoveryWatch, run_dir: Path) -> KubernetesDriver:
    """For pools whose workload the autoscaler may scale; it reaches the cluster as the settings of the moment say."""
    api = KubernetesApi(lambda: cluster_access(fleet.settings.fleet, run_dir / "cluster"))

    def describe(pool: PoolName, found: Sequence[FoundReplica]) -> dict[ReplicaId, Replica]:
        if pool not in fleet.settings.pools:
            return {}  # a reload has just taken it out
        wanted = wanted_replicas(fleet.settings, pool, found)
        return {member.replica.id: member.replica for member in wanted.members}

    return KubernetesDriver(api, scaled_pools(fleet.settings), describe, on_found=discovery.tell)
