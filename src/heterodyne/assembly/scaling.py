"""Builds the autoscaler, over the fleet's owner."""

import os

from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet


def build_autoscaler(owner: FleetOwner) -> Autoscaler:
    """One per supervisor; it follows reloads."""
    fleet = ScaledFleet(
        driven=owner.driven, replicas=owner.replicas, views=owner.workers.views, take_wakes=owner.take_wakes
    )
    file = state_folder(os.environ) / f"autoscaling-{owner.settings.gateway.port}.msgpack"
    return Autoscaler(lambda: owner.settings, fleet, ScalingMemory(file))
