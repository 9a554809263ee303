"""Puts the console's desks together over the fleet's owner and the office."""

from heterodyne.assembly.desks.capacity_desk import CapacityOffice
from heterodyne.assembly.desks.plan_desk import PlanOffice
from heterodyne.assembly.desks.rehearsal import RehearsalOffice
from heterodyne.assembly.desks.tenants_now import TenantsNowOffice
from heterodyne.assembly.fleet_owner import FleetOwner
from heterodyne.assembly.office import Office
from heterodyne.config.settings import Settings
from heterodyne.console.desks import Desks


def open_desks(owner: FleetOwner, office: Office, tenants: TenantsNowOffice) -> Desks:
    """They follow reloads: settings and fleet are asked for anew each time."""

    def settings() -> Settings:
        return owner.settings

    return Desks(
        tenants=tenants,
        capacity=CapacityOffice(office.books, settings, owner.page),
        plans=PlanOffice(office.books, settings),
        rehearsals=RehearsalOffice(office.books, settings, owner.page),
    )
