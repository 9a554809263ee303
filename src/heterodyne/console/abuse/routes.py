"""The paths of the admin API about abuse."""

from starlette.requests import Request

from heterodyne.console.abuse.forms import AbuseLift
from heterodyne.console.abuse.pages import AbusePage, Lifted
from heterodyne.console.abuse.service import AbuseChanges, AbuseService
from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.guard import Guard
from heterodyne.domain.errors import UnknownName


def abuse_routes(guard: Guard, abuse: AbuseService, changes: AbuseChanges) -> list[AdminRoute]:
    """What may be seen and done."""

    async def page(_: Request) -> AbusePage:
        return abuse.page()

    return [
        AdminRoute(
            method="GET",
            path="/admin/abuse",
            endpoint=guard.reading(page),
            summary="Show the keys that policies against abuse have found, and what is held against them",
            answer=AbusePage,
        ),
        AdminRoute(
            method="POST",
            path="/admin/abuse/lift",
            endpoint=guard.changing("abuse_change", "lift", AbuseLift, changes.lift),
            summary="Hold nothing against a key any more",
            body=AbuseLift,
            answer=Lifted,
            raises=(UnknownName,),
        ),
    ]
