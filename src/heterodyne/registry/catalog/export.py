"""An artifact as a folder that anybody can use, with a file that says what it is and whence."""

import asyncio
import shutil
from pathlib import Path

import msgspec

from heterodyne.domain.artifact import StoredArtifact
from heterodyne.domain.errors import SettingsInvalid, WeightsUnavailable
from heterodyne.registry.catalog.catalog import Catalog
from heterodyne.registry.files import sha256_of

MANIFEST = "heterodyne-artifact.json"


async def export(catalog: Catalog, stored: StoredArtifact, target: Path) -> Path:
    """Copies with the right hashes, in a folder that was not there or is empty."""
    source = await catalog.local(stored)
    await asyncio.to_thread(_copied, stored, source, target)
    return target


def _copied(stored: StoredArtifact, source: Path, target: Path) -> None:
    if target.exists() and any(target.iterdir()):
        raise SettingsInvalid(f"{target}: is there and not empty; name another folder")
    try:
        for file in stored.artifact.files:
            path = target / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file.path, path)
            if sha256_of(path) != file.sha256:
                raise WeightsUnavailable(f"{path}: was altered on its way; `heterodyne models verify` says more")
        manifest = msgspec.json.format(msgspec.json.encode(stored))
        (target / MANIFEST).write_bytes(manifest + b"\n")
    except OSError as error:
        raise WeightsUnavailable(f"{target}: cannot be written: {error.strerror or error}") from error
