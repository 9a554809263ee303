"""`GET /admin/capacity`: how much room each model has, how long it will last, and what would give more."""

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.capacity.pages import CapacityPage
from heterodyne.console.capacity.service import CapacityService
from heterodyne.console.guard import Guard
from heterodyne.domain.errors import StoreUnavailable


def capacity_routes(guard: Guard, service: CapacityService) -> list[AdminRoute]:
    """One path."""

    async def capacity(_: Request) -> CapacityPage:
        return await service.capacity()

    return [
        AdminRoute(
            method="GET",
            path="/admin/capacity",
            endpoint=guard.reading(capacity),
            summary="Show each model's room, its forecast, and what the planner would add",
            answer=CapacityPage,
            raises=(StoreUnavailable,),
        )
    ]
