"""Builds what follows guards, caches and cascades, and what tells of them."""

from pathlib import Path

from msgspec import Struct

from heterodyne.ports.policy_store import PolicyStore
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.policies.drops import CacheDropper
from heterodyne.supervisor.policies.watch import PolicyWatch
from heterodyne.supervisor.services.policy_reader import PolicyReader


class PolicyParts(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor."""

    watch: PolicyWatch
    dropper: CacheDropper
    reader: PolicyReader


def build_policies(owner: FleetOwner, store: PolicyStore, run_dir: Path) -> PolicyParts:
    """They follow reloads: what the settings say is asked for anew each time."""

    def is_on() -> bool:
        settings = owner.settings
        return bool(settings.guards or settings.caches or settings.cascades)

    watch = PolicyWatch(
        store,
        run_dir,
        owner.decisions.hits,
        is_on=is_on,
        history_days=lambda: owner.settings.books.history_days,
    )
    dropper = CacheDropper(store, owner.take_drops, lambda: owner.settings, owner.workers.drops)
    return PolicyParts(watch=watch, dropper=dropper, reader=PolicyReader(store, watch, lambda: owner.settings))
