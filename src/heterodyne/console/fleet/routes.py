"""The paths of the admin API about the fleet: what may be seen, and what may be changed."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.guard import Body, Guard
from heterodyne.domain.errors import SettingsInvalid, UnknownName


def fleet_routes(guard: Guard, fleet: FleetService) -> list[AdminRoute]:
    """What may be seen."""

    async def page(_: Request) -> FleetPage:
        return fleet.page()

    return [
        AdminRoute(
            method="GET",
            path="/admin/fleet",
            endpoint=guard.reading(page),
            summary="Show every worker and replica",
            answer=FleetPage,
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
        change("reload", "Read the settings again", ReloadOrder, changes.reload, Reloaded),
    ]
