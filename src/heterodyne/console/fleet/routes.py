"""The paths of the admin API that are about the fleet and its decisions."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.decisions.service import LIMIT_DEFAULT, LIMIT_MAX, DecisionPage, read_limit
from heterodyne.console.errors import ChangeRefused, NoWorkerAnswers
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.fleet.service import Addition, Changed, FleetService, Nothing, Reloaded, Selection
from heterodyne.console.guard import Body, Guard
from heterodyne.domain.errors import SettingsInvalid, UnknownModel, UnknownName
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question

LIMIT = QueryWord(
    name="limit",
    description="How many at most.",
    schema={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
)


def fleet_routes(guard: Guard, fleet: FleetService) -> list[AdminRoute]:
    """What may be seen."""

    async def page(_: Request) -> FleetPage:
        return fleet.page()

    async def decision(request: Request) -> PastDecision:
        return await fleet.decisions.decision(request.path_params["id"])

    async def decisions(request: Request) -> DecisionPage:
        limit = read_limit(request.query_params.get("limit"))
        return DecisionPage(decisions=await fleet.decisions.decisions(limit))

    return [
        AdminRoute(
            method="GET",
            path="/admin/fleet",
            endpoint=guard.reading(page),
            summary="Show every worker and replica",
            answer=FleetPage,
        ),
        AdminRoute(
            method="POST",
            path="/admin/explain",
            endpoint=guard.asking(Question, fleet.decisions.explain),
            summary="Say where a request would go, and why",
            body=Question,
            answer=Explanation,
            raises=(UnknownName, UnknownModel, NoWorkerAnswers),
        ),
        AdminRoute(
            method="GET",
            path="/admin/decisions",
            endpoint=guard.reading(decisions),
            summary="List how the latest requests were placed",
            answer=DecisionPage,
            query=(LIMIT,),
            raises=(NoWorkerAnswers,),
        ),
        AdminRoute(
            method="GET",
            path="/admin/decisions/{id}",
            endpoint=guard.reading(decision),
            summary="Say why a request went where it did",
            answer=PastDecision,
            raises=(UnknownName, NoWorkerAnswers),
        ),
    ]


def fleet_change_routes(guard: Guard, changes: FleetChanges) -> list[AdminRoute]:
    """What may be changed."""

    def change(
        path: str,
        summary: str,
        kind: type[Body],
        act: Callable[[Body, str], Awaitable[Struct]],
        answer: type[Struct] = Changed,
    ) -> AdminRoute:
        assert issubclass(kind, Struct)
        return AdminRoute(
            method="POST",
            path=f"/admin/{path}",
            endpoint=guard.changing("fleet_change", act.__name__, kind, act),
            summary=summary,
            body=kind,
            answer=answer,
            raises=(UnknownName, ChangeRefused, SettingsInvalid),
        )

    return [
        change("fleet/drain", "Give replicas nothing new", Selection, changes.drain),
        change("fleet/undrain", "Let replicas take work again", Selection, changes.undrain),
        change("fleet/restart", "Restart replicas, one after the other", Selection, changes.restart),
        change("fleet/remove", "Take replicas out of the fleet", Selection, changes.remove),
        change("fleet/add", "Add a replica that runs somewhere", Addition, changes.add),
        change("reload", "Read the settings again", Nothing, changes.reload, Reloaded),
    ]
