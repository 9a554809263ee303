"""Builds the console: what it shows, its guard, its services, and the gateway that its playground asks."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator

from msgspec import Struct

from heterodyne.assembly.gateways import GatewayParts
from heterodyne.config.settings import Settings
from heterodyne.console.access.kept_sessions import KeptSessions
from heterodyne.console.guard import Guard
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.service import LiveService
from heterodyne.console.playground.service import GatewayPlace, Playground
from heterodyne.console.services import ConsoleServices, Instruments
from heterodyne.console.sign_in.flow import SignInFlow
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.stores.open_store import state_folder
from heterodyne.supervisor.alerts.watch import AlertWatch
from heterodyne.supervisor.announce import gateway_url
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.services.capacity.estimator import CapacityEstimator
from heterodyne.supervisor.services.kv_reader import KvReader
from heterodyne.supervisor.services.plan.runner import PlanRunner
from heterodyne.supervisor.services.rehearsal.runner import RehearsalRunner
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores
from heterodyne.supervisor.stores.tenant_publisher import TenantPublisher
from heterodyne.wire.connection_pool import ConnectionPool

PLAN_MODULE = "heterodyne.supervisor.services.plan.child"
REHEARSAL_MODULE = "heterodyne.supervisor.services.rehearsal.child"
TENANT_PROBLEMS_MAX = 3  # of many rows the log has all


class AdminAccess(Struct, frozen=True, kw_only=True, eq=False):
    """The admin port as the settings ask for it, and who may use it."""

    listener: socket.socket
    guard: Guard
    sign_in: SignInFlow | None = None  # None: with keys alone


def build_access(settings: Settings, listener: socket.socket) -> AdminAccess:
    """With the sessions that were kept over a restart, as far as their keys are still good."""
    console, sign_in = settings.console, settings.sign_in
    sessions = KeptSessions(state_folder(os.environ) / f"sessions-{console.port}.json")
    guard = Guard.of(console, sessions, sign_in.issuer_url)
    guard.sessions.keep_only(guard.operators.digests)
    flow = None
    if sign_in.is_on:
        pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0)
        flow = SignInFlow(sign_in, pool, os.environ)
    return AdminAccess(listener=listener, guard=guard, sign_in=flow)


def build_instruments(
    began: Settings,
    owner: FleetOwner,
    stores: SupervisorStores,
    publisher: TenantPublisher,
    tenants: TenantUsageReader,
    *,
    access: AdminAccess,
    alerts: AlertWatch | None,
    gateways: GatewayParts,
) -> Instruments:
    """Over the fleet and the stores, which outlive it."""
    live = LiveService(
        owner.page,
        stores.recent_activity,
        alerts=lambda: () if alerts is None else alerts.lines(),
        problems=lambda: tuple(_problems(stores, publisher.snapshot)),
        limit_unknown=lambda: owner.settings.routing.concurrency_max,
        wall_clock=time.time,
        others=gateways.others,
    )
    return Instruments(
        guard=access.guard,
        sign_in=access.sign_in,
        feed=LiveFeed(live),
        playground=Playground(lambda: _place(owner.settings), stores.console_key),
        services=_services(owner, stores, tenants, gateways),
        gateway_url=gateway_url(began.gateway),
    )


def _services(
    owner: FleetOwner,
    stores: SupervisorStores,
    tenants: TenantUsageReader,
    gateways: GatewayParts,
) -> ConsoleServices:
    """They follow reloads: settings and fleet are asked for anew each time."""

    def settings() -> Settings:
        return owner.settings

    return ConsoleServices(
        tenants=tenants,
        capacity=CapacityEstimator(stores.books, settings, owner.page, child=PLAN_MODULE),
        plans=PlanRunner(stores.books, settings, child=PLAN_MODULE),
        rehearsals=RehearsalRunner(stores.books, settings, owner.page, child=REHEARSAL_MODULE),
        kv=KvReader(
            views=owner.workers.views,
            replicas=owner.replicas,
            fleet=owner.page,
            settings=settings,
            elsewhere=gateways.kv_elsewhere,
        ),
    )


def _problems(stores: SupervisorStores, snapshot: TenantSnapshot) -> Iterator[str]:
    for problem in snapshot.problems[:TENANT_PROBLEMS_MAX]:
        yield f"Keys are refused, as this version cannot read what is stored: {problem}"
    state = stores.collecting()
    if state is None:
        yield "No books are kept (books.is_on), so nothing is known of requests."
    elif state.problem is not None:
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
