"""Puts the watch over alerts together, for a fleet's owner and an office who both outlive it."""

from pathlib import Path

from heterodyne.console.tenants_now.pages import LimitUse
from heterodyne.supervisor.alerts.signals import SignalMaker
from heterodyne.supervisor.alerts.watch import AlertWatch
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.services.tenant_usage_reader import TenantUsageReader
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores

LIMITS_MAX = 500  # the most used of all limits: those that are not in dollars are often full


def open_alerts(
    owner: FleetOwner, stores: SupervisorStores, tenants: TenantUsageReader, run_dir: Path
) -> AlertWatch | None:
    """Thresholds follow reloads; None where alerts are off."""
    if not owner.settings.alerts.is_on:
        return None

    async def limits() -> tuple[LimitUse, ...]:
        return await tenants.limit_use(LIMITS_MAX)

    maker = SignalMaker(
        history=stores.books,
        run_dir=run_dir,
        page=owner.page,
        books=lambda: stores.collecting,
        audit=lambda: stores.auditing,
        limits=limits,
    )
    return AlertWatch(lambda: owner.settings.alerts, maker, run_dir)
