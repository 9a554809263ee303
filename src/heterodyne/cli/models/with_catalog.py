"""The registry of the settings, opened for one command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from heterodyne.assembly.catalog import open_catalog
from heterodyne.config.settings import Settings
from heterodyne.registry.catalog.catalog import Catalog

T = TypeVar("T")


def with_catalog(settings: Settings, act: Callable[[Catalog], Awaitable[T]]) -> T:
    """What `act` returns, with the database open around it."""

    async def acted() -> T:
        async with open_catalog(settings) as catalog:
            return await act(catalog)

    return asyncio.run(acted())
