"""Files become blobs, and a list that says which name has which hash."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.ports.blobs import BlobStore
from heterodyne.registry.files import hashes_of


def listed(folder: Path, paths: Iterable[Path]) -> tuple[ArtifactFile, ...]:
    """The files by their names below `folder`, each with its hashes."""
    return tuple(
        sorted(
            ArtifactFile(path.relative_to(folder).as_posix(), path.stat().st_size, *hashes_of(path)) for path in paths
        )
    )


def take_in(blobs: BlobStore, folder: Path, files: Iterable[ArtifactFile], *, is_ours: bool = False) -> None:
    """Keep their bytes; `is_ours` where nobody else changes what is in the folder."""
    for file in files:
        blobs.put(folder / file.path, file.sha256, is_ours=is_ours)


def sha256_of_files(files: Iterable[ArtifactFile]) -> str:
    """One hash for all of them: of their names and hashes."""
    running = hashlib.sha256()
    for file in sorted(files):
        running.update(f"{file.path}\0{file.sha256}\n".encode())
    return running.hexdigest()
