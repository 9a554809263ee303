"""The registry's answers, loaded with the first question: what knows artifacts comes with their builders, a second that
nobody who does not ask need wait."""

import math
from asyncio import to_thread
from collections.abc import Callable

from heterodyne.console.registry.pages import RegistryPage, RegistryVersionPage, VerifiedPage
from heterodyne.console.registry.service import RegistryQuery, RegistryService
from heterodyne.registry.catalog.facts import Collected
from heterodyne.supervisor.services.cached_value import CachedValue


class LateRegistry:
    """One per supervisor; belongs to one event loop."""

    def __init__(self, load: Callable[[], RegistryService]) -> None:
        self._loaded = CachedValue(lambda: to_thread(load), for_s=math.inf)

    async def versions(self, query: RegistryQuery) -> RegistryPage:
        return await (await self._loaded.get()).versions(query)

    async def version(self, name: str) -> RegistryVersionPage:
        return await (await self._loaded.get()).version(name)

    async def verify(self, name: str) -> VerifiedPage:
        return await (await self._loaded.get()).verify(name)

    async def collect(self, *, is_dry: bool) -> Collected:
        return await (await self._loaded.get()).collect(is_dry=is_dry)
