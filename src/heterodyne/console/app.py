"""The whole admin API on one screen."""

import time

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.changes import FleetDesk
from heterodyne.console.desks import desk_routes
from heterodyne.console.fleet_changes import FleetChanges
from heterodyne.console.fleet_routes import fleet_change_routes, fleet_routes
from heterodyne.console.guard import Guard
from heterodyne.console.history import history_routes
from heterodyne.console.instruments import Instruments
from heterodyne.console.live_routes import live_routes
from heterodyne.console.office_desk import OfficeDesk
from heterodyne.console.openapi import description_route
from heterodyne.console.page import page_routes
from heterodyne.console.playground import playground_routes
from heterodyne.console.render import answer, error_answer
from heterodyne.console.session_routes import session_routes
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.tenant_routes import tenant_routes
from heterodyne.console.usage import usage_routes
from heterodyne.domain.errors import CallerError, MethodNotAllowed, UnknownPath


class Health(Struct, frozen=True, kw_only=True):
    """That the process answers."""

    status: str = "ok"


def admin_app(
    settings: ConsoleSettings,
    fleet: FleetDesk,
    office: OfficeDesk | None = None,
    instruments: Instruments | None = None,
) -> Starlette:
    """The API over whoever owns the fleet and the office; without an office nobody could write changes down, so the
    fleet is only shown, and without instruments nothing is live."""
    guard = Guard.of(settings) if instruments is None else instruments.guard
    gateway_url = "" if instruments is None else instruments.gateway_url
    routes = [_health_route(), *session_routes(guard, gateway_url), *fleet_routes(guard, fleet)]
    if instruments is not None:
        routes += live_routes(guard, instruments.feed)
        routes += playground_routes(guard, instruments.playground)
        routes += [] if instruments.desks is None else desk_routes(guard, instruments.desks)
    if office is not None:
        routes += fleet_change_routes(guard, FleetChanges(fleet, office.recorder))
        routes += tenant_routes(guard, office.tenants)
        routes += usage_routes(guard, office.books)
        routes += history_routes(guard, office.books, time.time)
    routes.append(description_route(guard, routes))
    return Starlette(
        routes=[*(one.starlette() for one in routes), *page_routes()], exception_handlers={HTTPException: _refused}
    )


def _health_route() -> AdminRoute:
    return AdminRoute(
        method="GET", path="/health", endpoint=_health, summary="Whether it answers", answer=Health, is_open=True
    )


async def _health(_: Request) -> Response:
    """Open: it says nothing about the fleet."""
    return answer(Health())


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
