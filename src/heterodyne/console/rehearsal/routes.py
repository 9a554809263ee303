"""`POST /admin/rehearsal`: what other policies would have made of the requests that came."""

from starlette.requests import Request
from starlette.responses import Response

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import CannotPlan, ServiceBusy
from heterodyne.console.guard import Guard
from heterodyne.console.rehearsal.pages import RehearsalPage, RehearsalRequest
from heterodyne.console.rehearsal.service import RehearsalService
from heterodyne.console.while_connected import while_connected
from heterodyne.domain.errors import DeadlineExceeded, StoreUnavailable, UnknownName


def rehearsal_routes(guard: Guard, service: RehearsalService) -> list[AdminRoute]:
    """One path; when the client disconnects, the simulation ends."""

    async def endpoint(request: Request) -> Response:
        async def rehearse(asked: RehearsalRequest) -> RehearsalPage:
            return await while_connected(request, service.rehearse(asked))

        return await guard.asking(RehearsalRequest, rehearse)(request)

    return [
        AdminRoute(
            method="POST",
            path="/admin/rehearsal",
            endpoint=endpoint,
            summary="Say what other policies would have made of the latest requests",
            body=RehearsalRequest,
            answer=RehearsalPage,
            raises=(UnknownName, CannotPlan, ServiceBusy, DeadlineExceeded, StoreUnavailable),
        )
    ]
