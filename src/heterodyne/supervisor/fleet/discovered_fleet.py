"""Moves the fleet to what clusters say of their pools; what was said last stands while they are silent."""

from collections.abc import Sequence

from heterodyne.config.settings import Settings
from heterodyne.fleet.kubernetes.pool_discovery import DiscoveryProblem, FoundReplica
from heterodyne.supervisor.fleet.cluster_pools import discovered_pools
from heterodyne.supervisor.fleet.discovered_replicas import WantedReplicas, address_of, wanted_replicas
from heterodyne.supervisor.fleet.managed_fleet import ManagedFleet
from heterodyne.supervisor.fleet.managed_replica import ManagedReplica
from heterodyne.supervisor.fleet.reconcile import FleetMember, ReconcilePlan, reconcile
from heterodyne.telemetry import log

_log = log.get("fleet")


class DiscoveredFleet:
    """One per supervisor. State changes between two awaits."""

    def __init__(self, fleet: ManagedFleet) -> None:
        self._fleet = fleet
        self._found: dict[str, tuple[FoundReplica, ...]] = {}  # by pool, as it was said last

    def members(self, settings: Settings) -> tuple[FleetMember, ...]:
        """Those of every pool that these settings discover, as they describe them; others are forgotten."""
        self._found = {name: found for name, found in self._found.items() if name in discovered_pools(settings)}
        return tuple(
            member
            for name, found in self._found.items()
            for member in self._due(wanted_replicas(settings, name, found))
        )

    def take(self, name: str, found: tuple[FoundReplica, ...]) -> tuple[DiscoveryProblem, ...]:
        """Work by what a cluster says now: new ones come, those that leave drain; what is wrong with them."""
        self._found[name] = found
        wanted = wanted_replicas(self._fleet.settings, name, found)
        ours = self._of(name)
        everyone = [managed.member.replica.id for managed in self._fleet.replicas]
        plan = reconcile([managed.member for managed in ours], self._due(wanted), taken=everyone)
        for member in plan.retained:
            self._fleet.of(member.replica.id).member = member
        for member in plan.added:
            self._fleet.add(ManagedReplica(member))
        going = [self._fleet.of(member.replica.id) for member in plan.removed]
        for managed in going:
            managed.is_leaving = True
        is_noted = self._note_unready(name, wanted)
        if plan.added or going or plan.changed or is_noted:
            _log_move(name, plan)
            version = self._fleet.publish()
            self._fleet.spawn(self._fleet.retire(going, version), "retire")
        return wanted.problems

    def _of(self, name: str) -> list[ManagedReplica]:
        """Those that are discovered: not what an operator added, nor what a reload replaces."""
        return [
            managed
            for managed in self._fleet.serving()
            if managed.member.replica.pool == name
            and not (managed.member.is_added or managed.member.is_driven or managed.is_superseded)
        ]

    def _due(self, wanted: WantedReplicas) -> Sequence[FleetMember]:
        """One that is not ready stays where it is known, so that what was learned of it does; it is not begun with."""
        known = {(managed.member.replica.pool, address_of(managed.member.replica)) for managed in self._fleet.serving()}
        return [
            member
            for member in wanted.members
            if (address := address_of(member.replica)) not in wanted.unready or (member.replica.pool, address) in known
        ]

    def _note_unready(self, name: str, wanted: WantedReplicas) -> bool:
        """Whether that is news of any."""
        is_news = False
        for managed in self._of(name):
            is_unready = address_of(managed.member.replica) in wanted.unready
            is_news = is_news or is_unready != managed.is_unready
            managed.is_unready = is_unready
        return is_news


def _log_move(pool: str, plan: ReconcilePlan) -> None:
    came, leaves = ([member.replica.id for member in members] for members in (plan.added, plan.removed))
    _log.info("fleet_discovered", pool=pool, came=came, leaves=leaves, changed=list(plan.changed))
