"""`GET /admin/kv`: where KV is held, how it moves, and what that is worth."""

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.guard import Guard
from heterodyne.console.kv.pages import KvPage
from heterodyne.console.kv.service import KvService
from heterodyne.console.query_params import check_names


def kv_routes(guard: Guard, service: KvService) -> list[AdminRoute]:
    """One path, for viewers and operators."""

    async def page(request: Request) -> KvPage:
        check_names(request.query_params, set())
        return service.page()

    return [
        AdminRoute(
            method="GET",
            path="/admin/kv",
            endpoint=guard.reading(page),
            summary="Show where KV is held, how it moves between pools, and what that saves",
            answer=KvPage,
        )
    ]
