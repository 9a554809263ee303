"""The whole admin API on one screen."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heterodyne.admission.host_names import HostNames
from heterodyne.console.changes import Addition, FleetDesk, Nothing, Reloaded, Selection
from heterodyne.console.decisions import DecisionPage, read_limit
from heterodyne.console.fleet_page import FleetPage
from heterodyne.console.guard import Guard
from heterodyne.console.operators import Operators
from heterodyne.console.render import answer, error_answer
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.tenant_routes import tenant_routes
from heterodyne.console.tenants import TenantDesk
from heterodyne.domain.errors import CallerError, MethodNotAllowed, UnknownPath
from heterodyne.routing.explanation import PastDecision
from heterodyne.routing.question import Question


def admin_app(settings: ConsoleSettings, desk: FleetDesk, tenants: TenantDesk | None = None) -> Starlette:
    """The API over whoever owns the fleet and, where there is a store, its tenants."""
    guard = Guard(
        Operators(settings.operator_keys_sha256),
        HostNames((settings.host, *settings.host_names), has_keys=bool(settings.operator_keys_sha256)),
    )

    async def reload(_: Nothing) -> Reloaded:
        return await desk.reload()

    async def page(_: Request) -> FleetPage:
        return desk.page()

    async def decision(request: Request) -> PastDecision:
        return await desk.decisions.decision(request.path_params["id"])

    async def decisions(request: Request) -> DecisionPage:
        limit = read_limit(request.query_params.get("limit"))
        return DecisionPage(decisions=await desk.decisions.decisions(limit))

    changes = (
        ("/admin/fleet/drain", guard.changing("drain", Selection, desk.drain)),
        ("/admin/fleet/undrain", guard.changing("undrain", Selection, desk.undrain)),
        ("/admin/fleet/restart", guard.changing("restart", Selection, desk.restart)),
        ("/admin/fleet/remove", guard.changing("remove", Selection, desk.remove)),
        ("/admin/fleet/add", guard.changing("add", Addition, desk.add)),
        ("/admin/reload", guard.changing("reload", Nothing, reload)),
    )
    return Starlette(
        routes=[
            Route("/health", _health, methods=["GET"]),
            Route("/admin/fleet", guard.reading(page), methods=["GET"]),
            Route("/admin/explain", guard.asking(Question, desk.decisions.explain), methods=["POST"]),
            Route("/admin/decisions", guard.reading(decisions), methods=["GET"]),
            Route("/admin/decisions/{id}", guard.reading(decision), methods=["GET"]),
            *(Route(path, endpoint, methods=["POST"]) for path, endpoint in changes),
            *(() if tenants is None else tenant_routes(guard, tenants)),
        ],
        exception_handlers={HTTPException: _refused},
    )


async def _health(_: Request) -> Response:
    """Open: it says nothing about the fleet."""
    return answer({"status": "ok"})


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
