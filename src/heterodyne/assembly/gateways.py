"""Builds what gateways over one fleet tell each other, and the reloads that they agree on."""

import secrets
import socket
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from heterodyne.console.live.gateway_minute import GatewayMinute, OtherGateway, minute_of
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.stores.redis.reports import GATEWAYS, RedisReports
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.gateways.gateway_watch import GatewayWatch
from heterodyne.supervisor.gateways.reload_watch import ReloadWatch
from heterodyne.supervisor.run import Loops
from heterodyne.supervisor.services.kv_reader import try_report
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

NAME_BYTES = 8


class GatewayParts(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor."""

    sender: str  # this process among all that ever were
    name: str  # for people
    watch: GatewayWatch | None = None  # None: this gateway tells others nothing
    others: Callable[[], Sequence[OtherGateway]] = tuple  # for the console
    kv_elsewhere: Callable[[], Sequence[KvSeen]] = tuple  # the same of their KV
    loops: Loops


def build_gateways(owner: FleetOwner, stores: SupervisorStores) -> GatewayParts:
    """From here on the owner reloads with all gateways, where there may be others. Raises SettingsInvalid."""
    sender = secrets.token_hex(NAME_BYTES)
    name = f"{socket.gethostname()}:{owner.settings.gateway.port}"
    url = owner.settings.stores.fleet_url
    if url is None:
        return GatewayParts(sender=sender, name=name, loops={})
    watch = GatewayWatch(RedisReports(url, prefix=GATEWAYS), sender=sender)
    watch.minute = lambda: _minute(owner, stores)
    watch.kv = lambda: try_report(owner.workers.views())
    reloads = ReloadWatch(
        owner.local, stores.documents, watch, sender=sender, name=name, settings=lambda: owner.settings.fleet
    )
    owner.agreed = reloads
    return GatewayParts(
        sender=sender,
        name=name,
        watch=watch,
        others=watch.others,
        kv_elsewhere=watch.kv_elsewhere,
        loops={"gateways": watch.run, "agreed reloads": reloads.run},
    )


def _minute(owner: FleetOwner, stores: SupervisorStores) -> GatewayMinute:
    """What this gateway tells the consoles of others."""
    window, rows = stores.recent_activity.window(time.time()), owner.workers.rows()
    return minute_of(window, in_flight=sum(one.in_flight for one in rows), queued=sum(one.queued for one in rows))
