"""Answers the console's questions about the registry. Whatever blocks does so in a thread."""

import asyncio
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.console.registry.pages import RegistryPage, RegistryVersionPage, VerifiedPage
from heterodyne.console.registry.service import RegistryQuery
from heterodyne.domain.artifact import Digest, ModelVersion, StoredArtifact
from heterodyne.physics.catalogue import accelerators, with_overrides
from heterodyne.physics.hardware import Accelerator
from heterodyne.registry.catalog.best_on_chip import USUAL_CHIPS
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.collect import collect
from heterodyne.registry.catalog.facts import Collected, VersionFacts
from heterodyne.registry.catalog.pool_artifacts import pools_by_artifact
from heterodyne.registry.catalog.verify import verify
from heterodyne.registry.catalog.version_facts import facts_of, summaries
from heterodyne.supervisor.services.bulkhead import Bulkhead
from heterodyne.supervisor.services.cached_value import CachedValue

FRESH_S = 5.0  # several consoles that are open cost the database no more than one
AT_ONCE = 2  # of what reads or removes bytes


class RegistryReader:
    """One per supervisor; belongs to one event loop. Settings are asked for anew each time, so it follows reloads."""

    def __init__(self, settings: Callable[[], Settings], open_catalog: Callable[[], Catalog]) -> None:
        self._settings = settings
        self._open_catalog = open_catalog  # over a database that is open
        self._contents = CachedValue(self._read, for_s=FRESH_S)
        self._bulkhead = Bulkhead(AT_ONCE, "checks and collections of the registry")

    async def versions(self, query: RegistryQuery) -> RegistryPage:
        """By model, the newest of each first."""
        contents = await self._contents.get()
        found = [one for one in contents.versions if one.model.startswith(query.search)]
        shown = found[: query.limit]
        # Digests are computed, and signatures.
        keys, pools = self._settings().registry.trusted_keys, contents.pools
        summarise = partial(summaries, shown, contents.artifacts, trusted_keys=keys, pools=pools)
        return RegistryPage(
            versions=await asyncio.to_thread(summarise),
            total=len(found),
            is_cut=len(shown) < len(found),
        )

    async def version(self, name: str) -> RegistryVersionPage:
        """The version that is named, of a model alone its latest; raises UnknownName with the nearest name."""
        catalog = await asyncio.to_thread(self._open_catalog)
        version, contents = await catalog.version(name), await self._contents.get()
        return RegistryVersionPage(
            shown=await asyncio.to_thread(_facts, version, contents, self._settings()),
            versions=tuple(one.name for one in contents.versions if one.model == version.model),
        )

    async def verify(self, name: str) -> VerifiedPage:
        """Reads every byte, so it takes as long as they are."""
        with self._bulkhead.slot():
            catalog = await asyncio.to_thread(self._open_catalog)
            artifacts = await catalog.artifacts(await catalog.version(name))
            return VerifiedPage(
                artifacts=tuple(await verify(catalog, artifacts, self._settings().registry.trusted_keys))
            )

    async def collect(self, *, is_dry: bool) -> Collected:
        """What nothing refers to goes, once it is an hour old."""
        with self._bulkhead.slot():
            return await collect(await asyncio.to_thread(self._open_catalog), is_dry=is_dry)

    async def _read(self) -> "_Contents":
        catalog = await asyncio.to_thread(self._open_catalog)
        versions = await catalog.versions()
        return _Contents(
            versions=tuple(sorted(versions, key=lambda one: (one.model, -one.created_at))),
            artifacts=await catalog.store.artifacts(),
            pools=await pools_by_artifact(catalog, self._settings().pools),
        )


class _Contents(Struct, frozen=True, kw_only=True):
    """What the registry has at one moment."""

    versions: tuple[ModelVersion, ...]  # by model, the newest of each first
    artifacts: tuple[StoredArtifact, ...]
    pools: dict[Digest, tuple[str, ...]]


def _facts(version: ModelVersion, contents: _Contents, settings: Settings) -> VersionFacts:
    """In a thread."""
    artifacts = [
        one
        for one in contents.artifacts
        if (one.artifact.model, one.artifact.version) == (version.model, version.version)
    ]
    trusted_keys = settings.registry.trusted_keys
    return facts_of(version, artifacts, _chips(settings), trusted_keys=trusted_keys, pools=contents.pools)


def _chips(settings: Settings) -> list[Accelerator]:
    """The fleet's own first, then the usual ones."""
    known = with_overrides(accelerators(), settings.physics.hardware)
    own = sorted({pool.hardware for pool in settings.pools.values() if pool.hardware is not None})
    return [known[name] for name in dict.fromkeys((*own, *USUAL_CHIPS)) if name in known]
