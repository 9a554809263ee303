"""Opens the registry of the settings."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from heterodyne.config.settings import Settings
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.models_folder import models_folder
from heterodyne.stores.open_store import models_in, open_database


@asynccontextmanager
async def open_catalog(settings: Settings) -> AsyncIterator[Catalog]:
    """Closed at the end."""
    folder = models_folder(settings.registry)
    database = await open_database(settings.stores.url, os.environ)
    try:
        yield Catalog(models_in(database), LocalBlobs(folder / "blobs"), folder)
    finally:
        await database.close()
