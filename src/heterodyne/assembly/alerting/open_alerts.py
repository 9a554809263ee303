"""Puts the watch over alerts together, for a fleet's owner and an office who both outlive it."""

from pathlib import Path

from heterodyne.assembly.alerting.alert_signals import SignalMaker
from heterodyne.assembly.alerting.alert_watch import AlertWatch
from heterodyne.assembly.desks.tenants_now import TenantsNowOffice
from heterodyne.assembly.fleet_owner import FleetOwner
from heterodyne.assembly.office import Office
from heterodyne.console.tenant_now import LimitUse

LIMITS_MAX = 500  # the most used of all limits: those that are not in dollars are often full


def open_alerts(owner: FleetOwner, office: Office, tenants: TenantsNowOffice, run_dir: Path) -> AlertWatch | None:
    """Thresholds follow reloads; None where alerts are off."""
    if not owner.settings.alerts.is_on:
        return None

    async def limits() -> tuple[LimitUse, ...]:
        return await tenants.limit_use(LIMITS_MAX)

    maker = SignalMaker(
        history=office.books,
        run_dir=run_dir,
        page=owner.page,
        books=lambda: office.collecting,
        audit=lambda: office.auditing,
        limits=limits,
    )
    return AlertWatch(lambda: owner.settings.alerts, maker, run_dir)
