"""Builds the fleet's owner: replicas, workers, reloads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heterodyne.config.settings import Settings
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.ports.fleet_driver import FleetDriver
from heterodyne.supervisor.fleet.discovered_fleet import DiscoveredFleet
from heterodyne.supervisor.fleet.discovery import DiscoveryWatch
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
    reload = FleetReload(
        began, fleet, reread=reread, fetch=fetch, on_settings=on_settings, discovered=discovered.members
    )
    discovery = DiscoveryWatch(lambda: fleet.settings, discovered, run_dir)
    return FleetOwner(fleet, reload, DecisionClient(run_dir, workers.running), discovery, drivers)
