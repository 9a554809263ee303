"""Which versions of the registry the settings refer to."""

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.reference import names_version, read_uri


async def pinned_versions(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """By the name of a version, the pool that names it."""
    found: dict[str, str] = {}
    for name, pool in settings.pools.items():
        if pool.weights is not None and names_version(pool.weights):
            try:
                version = await catalog.version(read_uri(pool.weights)[0])
            except UnknownName:
                continue  # what is not there cannot be removed
            found[version.name] = f"the pool {name}"
    for pin in settings.registry.pins:
        try:
            found.setdefault((await catalog.version(pin)).name, "registry.pins")
        except UnknownName:
            continue
    return found
