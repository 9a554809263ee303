"""What works out how much room every model has."""

from typing import Protocol

from heterodyne.console.capacity.pages import CapacityPage


class CapacityService(Protocol):
    """Knows the fleet, its demand and the performance model; one per console."""

    async def capacity(self) -> CapacityPage: ...
