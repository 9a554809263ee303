"""Puts the console's desks together over the fleet's owner and the office."""

from heterodyne.config.settings import Settings
from heterodyne.console.services import ConsoleServices
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.services.capacity.estimator import CapacityEstimator
from heterodyne.supervisor.services.plan.runner import PlanRunner
from heterodyne.supervisor.services.rehearsal.runner import RehearsalRunner
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores


def open_services(owner: FleetOwner, stores: SupervisorStores, tenants: TenantUsageReader) -> ConsoleServices:
    """They follow reloads: settings and fleet are asked for anew each time."""

    def settings() -> Settings:
        return owner.settings

    return ConsoleServices(
        tenants=tenants,
        capacity=CapacityEstimator(stores.books, settings, owner.page),
        plans=PlanRunner(stores.books, settings),
        rehearsals=RehearsalRunner(stores.books, settings, owner.page),
    )
