"""What happened, minute by minute, and how long requests took."""

from collections.abc import Callable

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.guard import Guard
from heterodyne.console.history.figures import history_page, latency_page
from heterodyne.console.history.pages import HistoryPage, LatencyPage
from heterodyne.console.history.query import SPAN, STEP, read_history_query, read_latency_query
from heterodyne.console.history.service import HistoryService


def history_routes(guard: Guard, books: HistoryService, clock: Callable[[], float]) -> list[AdminRoute]:
    """`/admin/history` and `/admin/latency`; the clock gives seconds since the epoch."""

    async def history(request: Request) -> HistoryPage:
        now = clock()
        return history_page(await books.history(read_history_query(request.query_params, now)), now)

    async def latency(request: Request) -> LatencyPage:
        now = clock()
        return latency_page(await books.history(read_latency_query(request.query_params, now)), now)

    return [
        AdminRoute(
            method="GET",
            path="/admin/history",
            endpoint=guard.reading(history),
            summary="Show what happened, step by step",
            answer=HistoryPage,
            query=(*SPAN, STEP),
        ),
        AdminRoute(
            method="GET",
            path="/admin/latency",
            endpoint=guard.reading(latency),
            summary="Show how long requests took, as distributions",
            answer=LatencyPage,
            query=SPAN,
        ),
    ]
