"""The paths of the admin API about batches."""

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.batches.forms import BatchCancellation
from heterodyne.console.batches.pages import BatchPage, CancelledBatch
from heterodyne.console.batches.service import BatchService
from heterodyne.console.errors import ChangeRefused
from heterodyne.console.guard import Guard
from heterodyne.domain.errors import UnknownName


def batch_routes(guard: Guard, batches: BatchService) -> list[AdminRoute]:
    """What may be seen and done. Sending batches and reading their results is for keys of their projects."""

    async def page(_: Request) -> BatchPage:
        return await batches.page()

    return [
        AdminRoute(
            method="GET",
            path="/admin/batches",
            endpoint=guard.reading(page),
            summary="Show the batches of all projects that are not over, and the latest that ended",
            answer=BatchPage,
        ),
        AdminRoute(
            method="POST",
            path="/admin/batches/cancel",
            endpoint=guard.changing("batch_change", "cancel", BatchCancellation, batches.cancel),
            summary="Answer no further request of a batch; what was answered is kept",
            body=BatchCancellation,
            answer=CancelledBatch,
            raises=(UnknownName, ChangeRefused),
        ),
    ]
