"""The paths of the admin API about usage."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.query_params import check_names
from heterodyne.console.usage.pages import IdlePage, RequestRows, UsagePage
from heterodyne.console.usage.query import DAYS, FILTERS, GROUPS, PAGE, read_request_query, read_usage_query
from heterodyne.console.usage.service import UsageService, idle_page, request_rows, usage_page


def usage_routes(guard: Guard, service: UsageService) -> list[AdminRoute]:
    """`/admin/usage` and below."""

    async def usage(request: Request) -> UsagePage:
        return await usage_page(service, read_usage_query(request.query_params))

    async def requests(request: Request) -> RequestRows:
        return await request_rows(service, read_request_query(request.query_params))

    async def idle(request: Request) -> IdlePage:
        params = request.query_params
        check_names(params, {"since", "until"})
        return await idle_page(service, params.get("since"), params.get("until"))

    def read(
        path: str,
        summary: str,
        handle: Callable[[Request], Awaitable[Struct]],
        answer: type[Struct],
        query: tuple[QueryWord, ...],
    ) -> AdminRoute:
        return AdminRoute(
            method="GET", path=path, endpoint=guard.reading(handle), summary=summary, answer=answer, query=query
        )

    return [
        read("/admin/usage", "Add up usage by groups", usage, UsagePage, (GROUPS, *DAYS, *FILTERS)),
        read("/admin/usage/requests", "List single requests, the newest first", requests, RequestRows, PAGE + FILTERS),
        read("/admin/usage/idle", "Show what pools paid by the hour cost", idle, IdlePage, DAYS),
    ]
