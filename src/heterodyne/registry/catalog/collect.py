"""Bytes that nothing refers to are removed: neither an artifact, nor a build, nor what was put a moment ago."""

import asyncio
import shutil
import time
from collections.abc import Callable

from heterodyne.domain.artifact import StoredArtifact
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.registry.catalog.build import staging_folders
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.facts import Collected

GRACE_S = 3600.0  # between a blob and the artifact that will refer to it
BUILD_AGE_MAX_S = 7 * 86_400.0  # a build that was not gone on with for a week will not be


async def collect(
    catalog: Catalog, *, grace_s: float = GRACE_S, is_dry: bool = False, clock: Callable[[], float] = time.time
) -> Collected:
    """The moment is taken first, then what is referred to: what comes in between is younger than the grace."""
    before = clock() - grace_s
    artifacts = await catalog.store.artifacts()
    return await asyncio.to_thread(_collected, catalog, artifacts, before, clock(), is_dry=is_dry)


def _collected(
    catalog: Catalog, artifacts: tuple[StoredArtifact, ...], before: float, now: float, *, is_dry: bool
) -> Collected:
    referred = {file.sha256 for one in artifacts for file in one.artifact.files}
    blobs = [sha256 for sha256, put_at in catalog.blobs.kept() if sha256 not in referred and put_at < before]
    present = {one.artifact.digest for one in artifacts}
    served = [path for path in (catalog.folder / "served").glob("*") if path.name not in present]
    builds = [path for path in staging_folders(catalog) if path.stat().st_mtime < now - BUILD_AGE_MAX_S]
    if not is_dry:
        for sha256 in blobs:
            catalog.blobs.delete(sha256)
        for path in (*served, *builds):
            shutil.rmtree(path, ignore_errors=True)
    return Collected(blobs=len(blobs), builds=len(builds), served=len(served))


async def remove_version(catalog: Catalog, reference: str, pinned: dict[str, str]) -> int:
    """Forget a version; its bytes go with the next collection. `pinned` has, by version, what refers to it."""
    version = await catalog.version(reference)
    if version.name in pinned:
        raise SettingsInvalid(f"{version.name} is in use: {pinned[version.name]} refers to it")
    artifacts = await catalog.artifacts(version)
    await catalog.store.remove_version(version.model, version.version)
    return len(artifacts)
