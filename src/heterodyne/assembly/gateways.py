"""Builds what gateways over one fleet tell each other, and the reloads that they agree on."""

import secrets
import socket

from msgspec import Struct

from heterodyne.stores.redis.reports import GATEWAYS, RedisReports
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.gateways.gateway_watch import GatewayWatch
from heterodyne.supervisor.gateways.reload_watch import ReloadWatch
from heterodyne.supervisor.run import Loops
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

NAME_BYTES = 8


class GatewayParts(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor."""

    sender: str  # this process among all that ever were
    name: str  # for people
    watch: GatewayWatch | None  # None: this gateway tells others nothing
    loops: Loops


def build_gateways(owner: FleetOwner, stores: SupervisorStores) -> GatewayParts:
    """From here on the owner reloads with all gateways, where there may be others. Raises SettingsInvalid."""
    sender = secrets.token_hex(NAME_BYTES)
    name = f"{socket.gethostname()}:{owner.settings.gateway.port}"
    url = owner.settings.stores.fleet_url
    if url is None:
        return GatewayParts(sender=sender, name=name, watch=None, loops={})
    watch = GatewayWatch(RedisReports(url, prefix=GATEWAYS), sender=sender)
    reloads = ReloadWatch(
        owner.local, stores.documents, watch, sender=sender, name=name, settings=lambda: owner.settings.fleet
    )
    owner.agreed = reloads
    return GatewayParts(
        sender=sender, name=name, watch=watch, loops={"gateways": watch.run, "agreed reloads": reloads.run}
    )
