"""Builds what answers the console about the registry, over the supervisor's own database."""

from heterodyne.console.registry.service import RegistryService
from heterodyne.ports.model_store import ModelStore
from heterodyne.supervisor.fleet.fleet_owner import FleetOwner
from heterodyne.supervisor.services.registry.late import LateRegistry


def build_registry(owner: FleetOwner, store: ModelStore) -> RegistryService:
    """One per supervisor."""

    def load() -> RegistryService:
        from heterodyne.assembly.catalog import catalog_over  # noqa: PLC0415 - with the first question
        from heterodyne.supervisor.services.registry.reader import RegistryReader  # noqa: PLC0415

        return RegistryReader(lambda: owner.settings, lambda: catalog_over(owner.settings.registry, store))

    return LateRegistry(load)
