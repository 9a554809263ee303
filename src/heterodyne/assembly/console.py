"""Puts the console together: what it looks at, whom it lets in, and the gateway that its playground asks."""

import os
import time
from collections.abc import Iterator

from heterodyne.assembly.banner import gateway_url
from heterodyne.assembly.desks.open_desks import open_desks
from heterodyne.assembly.desks.tenants_now import TenantsNowOffice
from heterodyne.assembly.fleet_owner import FleetOwner
from heterodyne.assembly.office import Office
from heterodyne.config.settings import Settings
from heterodyne.console.guard import Guard
from heterodyne.console.instruments import Instruments
from heterodyne.console.kept_sessions import KeptSessions
from heterodyne.console.live_desk import LiveDesk
from heterodyne.console.live_feed import LiveFeed
from heterodyne.console.playground import GatewayPlace, Playground
from heterodyne.stores.open_store import state_folder

TENANT_PROBLEMS_MAX = 3  # of many rows the log has all


def open_console(began: Settings, owner: FleetOwner, office: Office, tenants: TenantsNowOffice) -> Instruments:
    """For the fleet's owner and the office, who both outlive it; keys follow reloads."""
    guard = Guard.of(began.console)
    guard.sessions = KeptSessions(state_folder(os.environ) / f"sessions-{began.console.port}.json")
    guard.sessions.keep_only(guard.operators.digests)
    owner.on_settings = lambda settings: guard.take(settings.console)
    desk = LiveDesk(
        owner.page,
        office.observatory,
        alerts=lambda: () if office.alerts is None else office.alerts.lines(),
        problems=lambda: tuple(_problems(office)),
        limit_unknown=lambda: owner.settings.routing.concurrency_max,
        wall_clock=time.time,
    )
    return Instruments(
        guard=guard,
        feed=LiveFeed(desk),
        playground=Playground(lambda: _place(owner.settings), office.console_key),
        desks=open_desks(owner, office, tenants),
        gateway_url=gateway_url(began.gateway),
    )


def _problems(office: Office) -> Iterator[str]:
    for problem in office.snapshot.problems[:TENANT_PROBLEMS_MAX]:
        yield f"Keys are refused, as this version cannot read what is stored: {problem}"
    state = office.collecting
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
