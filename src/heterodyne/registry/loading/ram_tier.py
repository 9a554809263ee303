"""Copies of artifacts in a file system that is memory: an engine that starts again reads no disk."""

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from heterodyne.domain.artifact import Artifact
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.blobs.checked_copy import copy_checked
from heterodyne.registry.blobs.ranged_read import ReadTerms
from heterodyne.registry.files import exclusive
from heterodyne.registry.loading.missing_files import missing_files

OURS_ALONE = 0o700


class RamTier:
    """One folder, with a folder for each artifact."""

    def __init__(self, folder: Path, bytes_max: float, terms: ReadTerms) -> None:
        self._folder = folder
        self._bytes_max = bytes_max
        self._terms = terms

    def try_held(self, artifact: Artifact) -> Path | None:
        """Where its files are in memory; None: they are not."""
        folder = self._folder / artifact.digest
        if missing_files(artifact, folder):
            return None
        os.utime(folder)  # what was used least lately goes first
        return folder

    def try_hold(self, artifact: Artifact, source: Path, pinned: Collection[str], on_bytes: OnBytes) -> Path | None:
        """Where its files are in memory, checked on the way there; None: there is no room for them."""
        self._folder.mkdir(mode=OURS_ALONE, parents=True, exist_ok=True)
        target = self._folder / artifact.digest
        with exclusive(self._folder / "lock", lambda: None):
            if not self._try_make_room(artifact.size_bytes, {*pinned, target.name}):
                return None
            for file in artifact.files:
                copy_checked(source / file.path, file, target / file.path, on_bytes, self._terms)
        return target

    def _try_make_room(self, size_bytes: int, pinned: Collection[str]) -> bool:
        """The artifacts that were used least lately go first; an engine that has their files open keeps them."""
        while self._taken() + size_bytes > self._bytes_max or shutil.disk_usage(self._folder).free < size_bytes:
            folders = [path for path in self._folder.glob("*") if path.is_dir() and path.name not in pinned]
            if not folders:
                return False
            shutil.rmtree(min(folders, key=lambda one: one.stat().st_mtime))
        return True

    def _taken(self) -> int:
        return sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file())
