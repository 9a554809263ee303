"""The desks behind four of the console's views: tenants now, capacity, plans and rehearsals."""

from msgspec import Struct

from heterodyne.console.admin_route import AdminRoute
from heterodyne.console.capacity_routes import CapacityDesk, capacity_routes
from heterodyne.console.guard import Guard
from heterodyne.console.plan_routes import PlanDesk, plan_routes
from heterodyne.console.rehearsal_routes import RehearsalDesk, rehearsal_routes
from heterodyne.console.tenants_now_routes import TenantsNowDesk, tenants_now_routes


class Desks(Struct, frozen=True, kw_only=True):
    """One of each."""

    tenants: TenantsNowDesk
    capacity: CapacityDesk
    plans: PlanDesk
    rehearsals: RehearsalDesk


def desk_routes(guard: Guard, desks: Desks) -> list[AdminRoute]:
    """Everything that may be asked of them."""
    return [
        *tenants_now_routes(guard, desks.tenants),
        *capacity_routes(guard, desks.capacity),
        *plan_routes(guard, desks.plans),
        *rehearsal_routes(guard, desks.rehearsals),
    ]
