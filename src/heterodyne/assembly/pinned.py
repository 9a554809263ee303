"""What the settings refer to in the registry: versions that are not removed, artifacts that stay on this machine."""

from heterodyne.config.settings import Settings
from heterodyne.domain.artifact import ModelVersion
from heterodyne.domain.errors import UnknownName
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.pool_artifacts import pools_by_artifact, registry_uris
from heterodyne.registry.catalog.reference import VersionReference, read_reference, read_uri


async def pinned_versions(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """By the name of a version, what refers to it."""
    named = [(read_uri(uri)[0], f"the pool {pool}") for pool, uri in registry_uris(settings.pools).items()]
    named += [(read_reference(pin), "registry.pins") for pin in settings.registry.pins]
    found: dict[str, str] = {}
    for reference, why in named:
        version = await _try_version(catalog, reference)
        if version is not None:
            found.setdefault(version.name, why)
    return found


async def pinned_digests(settings: Settings, catalog: Catalog) -> set[str]:
    """Of what pools load, and of all that is pinned by name. What is named and not there pins nothing."""
    found: set[str] = set(await pools_by_artifact(catalog, settings.pools))
    for pin in settings.registry.pins:
        version = await _try_version(catalog, read_reference(pin))
        if version is not None:
            found |= {one.artifact.digest for one in await catalog.artifacts(version)}
    return found


async def _try_version(catalog: Catalog, reference: VersionReference) -> ModelVersion | None:
    try:
        return await catalog.version(reference)
    except UnknownName:
        return None
