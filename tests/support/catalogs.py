"""An empty registry in a folder, with a real database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.models import SqliteModels


@asynccontextmanager
async def opened_catalog(folder: Path) -> AsyncIterator[Catalog]:
    """Whoever opens it again finds what was there."""
    database = await SqliteDatabase.open(folder / "models.sqlite")
    try:
        yield Catalog(SqliteModels(database), LocalBlobs(folder / "blobs"), folder)
    finally:
        await database.close()
