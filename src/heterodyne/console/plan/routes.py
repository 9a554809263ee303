"""The planner over HTTP: its forms under `/admin/plan`."""

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.errors import CannotPlan, ServiceBusy
from heterodyne.console.guard import Guard
from heterodyne.console.plan.forms import HardwareForm, MemoryForm, MixForm
from heterodyne.console.plan.pages import HardwareAnswer, MemoryAnswer, MixAnswer, PlanOptions
from heterodyne.console.plan.service import PlanService
from heterodyne.domain.errors import DeadlineExceeded, StoreUnavailable, UnknownName


def plan_routes(guard: Guard, service: PlanService) -> list[AdminRoute]:
    """What may be filled in, and three questions."""

    async def options(_: Request) -> PlanOptions:
        return await service.options()

    raises = (UnknownName, CannotPlan, ServiceBusy, DeadlineExceeded)
    return [
        AdminRoute(
            method="GET",
            path="/admin/plan/options",
            endpoint=guard.reading(options),
            summary="List what the forms of the planner take",
            answer=PlanOptions,
        ),
        AdminRoute(
            method="POST",
            path="/admin/plan/memory",
            endpoint=guard.asking(MemoryForm, service.memory),
            summary="Say where the memory of each chip goes, and what would make a model fit",
            body=MemoryForm,
            answer=MemoryAnswer,
            raises=raises,
        ),
        AdminRoute(
            method="POST",
            path="/admin/plan/hardware",
            endpoint=guard.asking(HardwareForm, service.hardware),
            summary="Rank the hardware that serves a model within its targets",
            body=HardwareForm,
            answer=HardwareAnswer,
            raises=(*raises, StoreUnavailable),
        ),
        AdminRoute(
            method="POST",
            path="/admin/plan/mix",
            endpoint=guard.asking(MixForm, service.mix),
            summary="Find the cheapest mix of replicas",
            body=MixForm,
            answer=MixAnswer,
            raises=(*raises, StoreUnavailable),
        ),
    ]
