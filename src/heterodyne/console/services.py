"""The desks behind four of the console's views: tenants now, capacity, plans and rehearsals."""

from msgspec import Struct

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.capacity.routes import CapacityService, capacity_routes
from heterodyne.console.guard import Guard
from heterodyne.console.plan.routes import PlanService, plan_routes
from heterodyne.console.rehearsal.routes import RehearsalService, rehearsal_routes
from heterodyne.console.tenants_now.routes import TenantsNowService, tenants_now_routes


class ConsoleServices(Struct, frozen=True, kw_only=True):
    """One of each."""

    tenants: TenantsNowService
    capacity: CapacityService
    plans: PlanService
    rehearsals: RehearsalService


def service_routes(guard: Guard, services: ConsoleServices) -> list[AdminRoute]:
    """Everything that may be asked of them."""
    return [
        *tenants_now_routes(guard, services.tenants),
        *capacity_routes(guard, services.capacity),
        *plan_routes(guard, services.plans),
        *rehearsal_routes(guard, services.rehearsals),
    ]
