"""Weights from outside become a version of a model."""

import asyncio
import platform
import time
from collections.abc import Callable
from pathlib import Path

from heterodyne.domain.artifact import (
    IMPORTED,
    Artifact,
    ArtifactProvenance,
    ModelVersion,
    Recipe,
    StoredArtifact,
)
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.intake import listed, sha256_of_files, take_in
from heterodyne.registry.catalog.reference import VersionReference
from heterodyne.registry.catalog.source_files import inspect_source


async def import_version(
    catalog: Catalog,
    reference: VersionReference,
    path: Path,
    uri: str,
    *,
    licence: str | None = None,
    clock: Callable[[], float] = time.time,
) -> tuple[ModelVersion, StoredArtifact]:
    """The version that these weights are: a new one, or the one they have been already.

    Raises what is wrong with the weights, and SettingsInvalid where another version has the name.
    """
    source = await asyncio.to_thread(inspect_source, path)
    files = await asyncio.to_thread(listed, source.folder, source.paths)
    sha256 = sha256_of_files(files)
    known = [one for one in await catalog.store.versions() if one.model == reference.model]
    version = next((one for one in known if one.source_sha256 == sha256), None)
    if version is not None and reference.version not in (None, version.version):
        raise SettingsInvalid(f"{reference}: these weights are {version.name} already")
    if version is None:
        name = reference.version or _next_name({one.version for one in known})
        version = ModelVersion(
            model=reference.model,
            version=name,
            source=without_secrets(uri),
            source_sha256=sha256,
            created_at=clock(),
            licence=licence or source.licence,
            facts=source.facts,
        )
        if any(one.version == name for one in known):
            raise SettingsInvalid(f"{version.name} is there already, with other weights; a version never changes")
    artifact = Artifact(
        model=version.model,
        version=version.version,
        format=source.format,
        precision=source.precision,
        recipe=Recipe(builder=IMPORTED, inputs=(sha256,)),
        files=files,
    )
    await asyncio.to_thread(take_in, catalog.blobs, source.folder, files)
    await catalog.store.add_version(version)
    stored = StoredArtifact(artifact=artifact, provenance=ArtifactProvenance(at=clock(), machine=machine()))
    await catalog.store.add_artifact(stored)
    return version, stored


def machine() -> str:
    """What is worth knowing of where something was made, and not whose it is."""
    return f"{platform.machine()} {platform.system()} Python {platform.python_version()}"


def _next_name(taken: set[str]) -> str:
    number = len(taken) + 1
    while f"v{number}" in taken:
        number += 1
    return f"v{number}"
