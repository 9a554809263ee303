"""From a version that a pool names to the files that its engine loads."""

import re
from pathlib import Path

from heterodyne.domain.artifact import StoredArtifact, WeightFormat
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.registry.catalog.affinity import FORMATS
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.catalog.reference import read_uri

DIGEST = re.compile(r"[0-9a-f]{12,64}")  # or its beginning, in the place of a precision


async def artifact_for(catalog: Catalog, uri: str, engine: str) -> StoredArtifact:
    """The artifact for the engine; raises UnknownName with the command that makes it."""
    named, precision = read_uri(uri)
    version = await catalog.version(named)
    if precision is not None and DIGEST.fullmatch(precision):
        return await catalog.by_digest(version, precision)
    formats = FORMATS.get(engine, ())
    if not formats:
        raise SettingsInvalid(f"{uri}: the registry has no format that the engine {engine} loads")
    for format in formats[:-1]:
        try:
            return await catalog.artifact(version, format, precision)
        except UnknownName:
            continue
    return await catalog.artifact(version, formats[-1], precision)


def served_path(folder: Path, stored: StoredArtifact) -> Path:
    """What an engine is given: of a GGUF the file, else the folder."""
    if stored.artifact.format is not WeightFormat.GGUF:
        return folder
    return folder / next(file.path for file in stored.artifact.files if file.path.endswith(".gguf"))
