"""What shows the fleet and changes it."""

from typing import Protocol

from heterodyne.console.decisions.service import DecisionService
from heterodyne.console.fleet.forms import Addition, ReloadOrder, Selection
from heterodyne.console.fleet.pages import Changed, FleetPage, Reloaded


class FleetService(Protocol):
    """The owner of the fleet; one per supervisor."""

    @property
    def decisions(self) -> DecisionService: ...

    def page(self) -> FleetPage: ...

    async def drain(self, selection: Selection) -> Changed: ...

    async def undrain(self, selection: Selection) -> Changed: ...

    async def restart(self, selection: Selection) -> Changed: ...

    async def remove(self, selection: Selection) -> Changed: ...

    async def add(self, addition: Addition) -> Changed: ...

    async def reload(self, order: ReloadOrder) -> Reloaded: ...
