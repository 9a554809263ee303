"""Builds what judges the use of keys, and lets workers begin with what was held against them before."""

import os
from pathlib import Path

from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.abuse.abuse_watch import AbuseWatch
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores


def build_abuse(owner: FleetOwner, stores: SupervisorStores, run_dir: Path) -> AbuseWatch:
    """Policies follow reloads. Gateways that share a state folder keep what they know apart, by their ports."""
    watch = AbuseWatch(
        lambda: owner.settings.abuse,
        run_dir,
        state_folder(os.environ) / f"abuse-{owner.settings.gateway.port}.bin",
        stores.audit,
        owner.take_restrictions,
    )
    owner.begin_restricted(watch.begin())
    return watch
