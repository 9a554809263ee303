"""Puts the console together: what it looks at, whom it lets in, and the gateway that its playground asks."""

import os
import time
from collections.abc import Iterator

from heterodyne.assembly.services import open_services
from heterodyne.config.settings import Settings
from heterodyne.console.guard import Guard
from heterodyne.console.instruments import Instruments
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.service import LiveService
from heterodyne.console.playground.service import GatewayPlace, Playground
from heterodyne.console.session.kept_sessions import KeptSessions
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.announce import gateway_url
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

TENANT_PROBLEMS_MAX = 3  # of many rows the log has all


def open_console(
    began: Settings, owner: FleetOwner, stores: SupervisorStores, tenants: TenantUsageReader
) -> Instruments:
    """For the fleet's owner and the office, who both outlive it; keys follow reloads."""
    guard = Guard.of(began.console)
    guard.sessions = KeptSessions(state_folder(os.environ) / f"sessions-{began.console.port}.json")
    guard.sessions.keep_only(guard.operators.digests)
    owner.on_settings = lambda settings: guard.take(settings.console)
    live = LiveService(
        owner.page,
        stores.recent_activity,
        alerts=lambda: () if stores.alerts is None else stores.alerts.lines(),
        problems=lambda: tuple(_problems(stores)),
        limit_unknown=lambda: owner.settings.routing.concurrency_max,
        wall_clock=time.time,
    )
    return Instruments(
        guard=guard,
        feed=LiveFeed(live),
        playground=Playground(lambda: _place(owner.settings), stores.console_key),
        services=open_services(owner, stores, tenants),
        gateway_url=gateway_url(began.gateway),
    )


def _problems(stores: SupervisorStores) -> Iterator[str]:
    for problem in stores.snapshot.problems[:TENANT_PROBLEMS_MAX]:
        yield f"Keys are refused, as this version cannot read what is stored: {problem}"
    state = stores.collecting
    if state is None:
        yield "No books are kept (books.is_on), so nothing is known of requests."
    elif state.problem:
        yield f"The books stall: {state.problem}"
    elif state.is_filling:
        yield "The spool of usage is nearly full; soon requests are refused."


def _place(settings: Settings) -> GatewayPlace:
    gateway = settings.gateway
    return GatewayPlace(
        host=gateway.host,
        port=gateway.port,
        certificate=gateway.tls_certificate,
        deadline_s=gateway.deadline_default_s,
    )
