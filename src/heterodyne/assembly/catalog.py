"""Opens the registry of the settings."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

from heterodyne.config.settings import Settings
from heterodyne.ports.blobs import BlobStore
from heterodyne.ports.model_store import ModelStore
from heterodyne.registry.blobs.cached import CachedBlobs
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.blobs.object_store import ObjectBlobs
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.loading.disk_tier import DiskTier
from heterodyne.registry.loading.ram_tier import RamTier
from heterodyne.registry.loading.tiers import Tiers
from heterodyne.registry.models_folder import models_folder
from heterodyne.registry.settings import RegistrySettings
from heterodyne.stores.open_store import models_in, open_database

LOCAL = "file://"


@asynccontextmanager
async def open_catalog(settings: Settings) -> AsyncIterator[Catalog]:
    """Closed at the end."""
    database = await open_database(settings.stores.url, os.environ)
    try:
        yield catalog_over(settings.registry, models_in(database))
    finally:
        await database.close()


def catalog_over(registry: RegistrySettings, store: ModelStore) -> Catalog:
    """Over a database that is open. Looks at folders, and at the store of bytes where it is elsewhere."""
    folder = models_folder(registry)
    return Catalog(store, _blobs(registry, folder), folder, tiers=_tiers(registry, folder))


def _blobs(registry: RegistrySettings, folder: Path) -> BlobStore:
    terms, url = _terms(registry), registry.blobs_url
    local = LocalBlobs(folder / "blobs", terms)
    if url is None:
        return local
    record = LocalBlobs(Path(url.removeprefix(LOCAL)), terms) if url.startswith(LOCAL) else ObjectBlobs(url, terms)
    return CachedBlobs(local, record)


def _tiers(registry: RegistrySettings, folder: Path) -> Tiers:
    return Tiers(
        disk=DiskTier(folder, _bytes(registry.local_max_gib)) if registry.blobs_url is not None else None,
        ram=None
        if registry.ram_dir is None
        else RamTier(Path(registry.ram_dir), _bytes(registry.ram_max_gib), _terms(registry)),
    )


def _terms(registry: RegistrySettings) -> ReadTerms:
    return ReadTerms(
        readers=registry.readers_max,
        timeout_s=registry.download_timeout_s,
        attempts_max=registry.download_attempts_max,
    )


def _bytes(gib: float | None) -> float:
    return inf if gib is None else gib * 2**30
