"""Builds the autoscaler, over the fleet's owner, with what gateways tell each other for it."""

import os
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from heterodyne.assembly.gateways import GatewayParts
from heterodyne.console.live.gateway_minute import GatewayMinute, OtherGateway, minute_of
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.leader.leader_watch import LeaderWatch
from heterodyne.supervisor.run import Loops
from heterodyne.supervisor.scaling.autoscaler import Autoscaler
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet
from heterodyne.supervisor.scaling.shared import SharedScaling
from heterodyne.supervisor.services.kv_reader import try_report
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores


class ScalingParts(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor."""

    autoscaler: Autoscaler
    others: Callable[[], Sequence[OtherGateway]]  # for the console
    kv_elsewhere: Callable[[], Sequence[KvSeen]]  # the same of their KV
    loops: Loops


def build_scaling(owner: FleetOwner, stores: SupervisorStores, gateways: GatewayParts) -> ScalingParts:
    """It follows reloads; the lease of the leader is one of the documents. Raises SettingsInvalid."""
    leader, watch = LeaderWatch(stores.documents, gateways.sender), gateways.watch
    fleet = ScaledFleet(
        driven=owner.driven,
        replicas=owner.replicas,
        views=owner.workers.views,
        take_wakes=owner.take_wakes,
        take_told=owner.cluster.take_told,
    )
    file = state_folder(os.environ) / f"autoscaling-{owner.settings.gateway.port}.msgpack"
    memory = ScalingMemory(file)
    shared = SharedScaling(fleet, memory, name=gateways.name, fence=leader.fence, watch=watch)
    autoscaler = Autoscaler(lambda: owner.settings, fleet, memory, shared)
    loops: Loops = {"leader": leader.run, "autoscaler": autoscaler.run}
    if watch is None:
        return ScalingParts(autoscaler=autoscaler, others=tuple, kv_elsewhere=tuple, loops=loops)
    watch.minute = lambda: _minute(owner, stores)
    watch.kv = lambda: try_report(owner.workers.views())
    return ScalingParts(autoscaler=autoscaler, others=watch.others, kv_elsewhere=watch.kv_elsewhere, loops=loops)


def _minute(owner: FleetOwner, stores: SupervisorStores) -> GatewayMinute:
    """What this gateway tells the consoles of others."""
    window, rows = stores.recent_activity.window(time.time()), owner.workers.rows()
    return minute_of(window, in_flight=sum(one.in_flight for one in rows), queued=sum(one.queued for one in rows))
