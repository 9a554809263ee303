"""Artifacts that stay on this machine whatever else has to go: those of its pools, and those pinned by name."""

from heterodyne.config.settings import Settings
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.reference import names_version
from heterodyne.registry.catalog.resolve import artifact_for


async def pinned_digests(settings: Settings, catalog: Catalog) -> set[str]:
    """What is named and not there pins nothing."""
    found: set[str] = set()
    for pool in settings.pools.values():
        if pool.weights is not None and names_version(pool.weights):
            try:
                found.add((await artifact_for(catalog, pool.weights, pool.engine)).artifact.digest)
            except UnknownName:
                continue
    for name in settings.registry.pins:
        try:
            artifacts = await catalog.artifacts(await catalog.version(name))
        except UnknownName:
            continue
        found |= {one.artifact.digest for one in artifacts}
    return found
