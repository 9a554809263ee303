"""The whole admin API on one screen."""

import time

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from heterodyne.console.abuse.routes import abuse_routes
from heterodyne.console.abuse.service import AbuseChanges
from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.batches.routes import batch_routes
from heterodyne.console.capacity.routes import capacity_routes
from heterodyne.console.decisions.routes import decision_routes
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.routes import fleet_change_routes, fleet_routes
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.guard import Guard
from heterodyne.console.history.routes import history_routes
from heterodyne.console.kv.routes import kv_routes
from heterodyne.console.live.routes import live_routes
from heterodyne.console.openapi import description_route
from heterodyne.console.plan.routes import plan_routes
from heterodyne.console.playground.routes import playground_routes
from heterodyne.console.policies.routes import cache_change_routes, policy_routes
from heterodyne.console.policies.service import CacheChanges
from heterodyne.console.registry.routes import registry_routes
from heterodyne.console.registry.service import RegistryChanges
from heterodyne.console.rehearsal.routes import rehearsal_routes
from heterodyne.console.render import answer, error_answer
from heterodyne.console.rollouts.routes import rollout_routes
from heterodyne.console.rollouts.service import RolloutChanges
from heterodyne.console.scaling.routes import scaling_routes
from heterodyne.console.scaling.service import ScalingChanges
from heterodyne.console.services import ConsoleServices, Instruments, StoreServices
from heterodyne.console.session.routes import session_routes
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.sign_in.routes import sign_in_routes
from heterodyne.console.static_files import page_routes
from heterodyne.console.tenants.routes import tenant_routes
from heterodyne.console.tenants_now.routes import tenants_now_routes
from heterodyne.console.usage.routes import usage_routes
from heterodyne.domain.errors import CallerError, MethodNotAllowed, UnknownPath


class ConsoleHealth(Struct, frozen=True, kw_only=True):
    """That the process answers."""

    status: str = "ok"


def admin_app(
    settings: ConsoleSettings,
    fleet: FleetService,
    stores: StoreServices | None = None,
    instruments: Instruments | None = None,
) -> Starlette:
    """The API over the fleet and the stores. Without stores changes could not be recorded, so the fleet is only shown;
    without instruments nothing is live."""
    guard = Guard.of(settings) if instruments is None else instruments.guard
    gateway_url = "" if instruments is None else instruments.gateway_url
    routes = [_health_route(), *session_routes(guard, gateway_url), *fleet_routes(guard, fleet)]
    routes += decision_routes(guard, fleet.decisions)
    if instruments is not None:
        routes += live_routes(guard, instruments.feed)
        routes += playground_routes(guard, instruments.playground)
        routes += [] if instruments.services is None else service_routes(guard, instruments.services)
    if stores is not None:
        routes += fleet_change_routes(guard, FleetChanges(fleet, stores.recorder))
        if stores.abuse is not None:
            routes += abuse_routes(guard, stores.abuse, AbuseChanges(stores.abuse, stores.recorder))
        if stores.batches is not None:
            routes += batch_routes(guard, stores.batches)
        if stores.rollouts is not None:
            routes += rollout_routes(guard, stores.rollouts, RolloutChanges(stores.rollouts, stores.recorder))
        if stores.registry is not None:
            routes += registry_routes(guard, stores.registry, RegistryChanges(stores.registry, stores.recorder))
        if stores.scaling is not None:
            routes += scaling_routes(guard, stores.scaling, ScalingChanges(stores.scaling, stores.recorder))
        if stores.policies is not None:
            routes += policy_routes(guard, stores.policies, time.time)
        if stores.drops is not None:
            routes += cache_change_routes(guard, CacheChanges(stores.drops, stores.recorder))
        routes += tenant_routes(guard, stores.tenants)
        routes += usage_routes(guard, stores.books)
        routes += history_routes(guard, stores.books, time.time)
    routes.append(description_route(guard, routes))
    return Starlette(
        routes=[
            *(one.starlette() for one in routes),
            *sign_in_routes(guard, None if instruments is None else instruments.sign_in),
            *page_routes(),
        ],
        exception_handlers={HTTPException: _refused},
    )


def service_routes(guard: Guard, services: ConsoleServices) -> list[AdminRoute]:
    """The views that are worked out."""
    return [
        *tenants_now_routes(guard, services.tenants),
        *capacity_routes(guard, services.capacity),
        *plan_routes(guard, services.plans),
        *rehearsal_routes(guard, services.rehearsals),
        *kv_routes(guard, services.kv),
    ]


def _health_route() -> AdminRoute:
    return AdminRoute(
        method="GET", path="/health", endpoint=_health, summary="Whether it answers", answer=ConsoleHealth, is_open=True
    )


async def _health(_: Request) -> Response:
    """Open, as it shows nothing of the fleet."""
    return answer(ConsoleHealth())


async def _refused(request: Request, error: Exception) -> Response:
    """What Starlette answers by itself, in our shape."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allow = (error.headers or {}).get("Allow", "")
        response = error_answer(MethodNotAllowed(f"This path takes {allow} only.", allow=allow))
        response.headers["allow"] = allow
        return response
    if error.status_code == 404:
        return error_answer(UnknownPath(f"There is no {request.url.path[:200]} here."))
    return error_answer(CallerError(error.detail))
