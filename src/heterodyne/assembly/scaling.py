"""Builds the autoscaler, over the fleet's owner, with what gateways tell each other for it."""

import os

from msgspec import Struct

from heterodyne.assembly.gateways import GatewayParts
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.leader.leader_watch import LeaderWatch
from heterodyne.supervisor.run import Loops
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet
from heterodyne.supervisor.scaling.shared import SharedScaling
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores


class ScalingParts(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor."""

    autoscaler: Autoscaler
    loops: Loops


def build_scaling(owner: FleetOwner, stores: SupervisorStores, gateways: GatewayParts) -> ScalingParts:
    """It follows reloads; the lease of the leader is one of the documents. Raises SettingsInvalid."""
    leader = LeaderWatch(stores.documents, gateways.sender)
    fleet = ScaledFleet(
        driven=owner.driven,
        replicas=owner.replicas,
        views=owner.workers.views,
        take_wakes=owner.take_wakes,
        take_told=owner.cluster.take_told,
    )
    file = state_folder(os.environ) / f"autoscaling-{owner.settings.gateway.port}.msgpack"
    memory = ScalingMemory(file)
    shared = SharedScaling(fleet, memory, name=gateways.name, fence=leader.fence, watch=gateways.watch)
    autoscaler = Autoscaler(lambda: owner.settings, fleet, memory, shared)
    return ScalingParts(autoscaler=autoscaler, loops={"leader": leader.run, "autoscaler": autoscaler.run})
