"""Which artifact each pool loads, where its weights are a version of the registry."""

from collections.abc import Mapping

from heterodyne.domain.artifact import Digest
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.reference import names_version
from heterodyne.registry.catalog.resolve import artifact_for


def registry_uris(pools: Mapping[str, PoolSettings]) -> dict[str, str]:
    """By pool, the version that it names; pools whose weights come from elsewhere are left out."""
    weights = {name: pool.weights for name, pool in pools.items()}
    return {name: uri for name, uri in weights.items() if uri is not None and names_version(uri)}


async def pools_by_artifact(catalog: Catalog, pools: Mapping[str, PoolSettings]) -> dict[Digest, tuple[str, ...]]:
    """By artifact, the pools that load it. What a pool names and the registry does not have is loaded by none."""
    wanted: dict[tuple[str, str], list[str]] = {}  # by what is named and by whom it is run: many pools load the same
    for name, uri in registry_uris(pools).items():
        wanted.setdefault((uri, pools[name].engine), []).append(name)
    found: dict[Digest, tuple[str, ...]] = {}
    for (uri, engine), names in wanted.items():
        try:
            digest = (await artifact_for(catalog, uri, engine)).artifact.digest
        except (UnknownName, SettingsInvalid):
            continue
        found[digest] = (*found.get(digest, ()), *names)
    return found
