"""`POST /admin/rehearsal`: what other policies would have made of the requests that came."""

from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.desk_errors import CannotPlan, DeskBusy
from heterodyne.console.guard import Guard
from heterodyne.console.rehearsal_pages import RehearsalAsk, RehearsalPage
from heterodyne.console.while_connected import while_connected
from heterodyne.domain.errors import DeadlineExceeded, StoreUnavailable, UnknownName


class RehearsalDesk(Protocol):
    """Whoever runs the simulator."""

    async def rehearse(self, asked: RehearsalAsk) -> RehearsalPage:
        """Stops what it has begun when it is cancelled."""
        ...


def rehearsal_routes(guard: Guard, desk: RehearsalDesk) -> list[AdminRoute]:
    """One path; whoever leaves takes the simulation along."""

    async def endpoint(request: Request) -> Response:
        async def rehearse(asked: RehearsalAsk) -> RehearsalPage:
            return await while_connected(request, desk.rehearse(asked))

        return await guard.asking(RehearsalAsk, rehearse)(request)

    return [
        AdminRoute(
            method="POST",
            path="/admin/rehearsal",
            endpoint=endpoint,
            summary="Say what other policies would have made of the latest requests",
            body=RehearsalAsk,
            answer=RehearsalPage,
            raises=(UnknownName, CannotPlan, DeskBusy, DeadlineExceeded, StoreUnavailable),
        )
    ]
