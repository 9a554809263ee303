"""Bytes in a folder of this machine, one file for each SHA-256, written once and never changed."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.blobs.checked_copy import copy_checked
from heterodyne.registry.blobs.ranged_read import ReadTerms

_SHA256 = re.compile(r"[0-9a-f]{64}")
READ_ONLY = 0o444
PART_AGE_MAX_S = 86_400.0
TERMS = ReadTerms()


class LocalBlobs:
    """One folder, which several processes may share: a file appears whole, or not at all."""

    def __init__(self, folder: Path, terms: ReadTerms = TERMS) -> None:
        self._folder = folder
        self._terms = terms

    def path(self, sha256: str) -> Path:
        """Where it is, or would be."""
        assert _SHA256.fullmatch(sha256), "a name is a hash"
        return self._folder / sha256[:2] / sha256

    def has(self, sha256: str, size_bytes: int) -> bool:
        """Whether it is there; a file of another size was cut."""
        try:
            return self.path(sha256).stat().st_size == size_bytes
        except OSError:
            return False

    def put(self, path: Path, sha256: str, *, is_ours: bool = False) -> None:
        """Keep the file: a copy, or a second name where nobody will change it."""
        target = self.path(sha256)
        try:
            if self.has(sha256, path.stat().st_size):
                os.utime(target)  # it is wanted again: what was put lately is not collected
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            arriving = target.with_name(f"{sha256}.{os.getpid()}.part")
            if not is_ours or not _try_link(path, arriving):
                shutil.copyfile(path, arriving)
            os.utime(arriving)
            _seal(arriving)
            arriving.replace(target)
        except OSError as error:
            raise WeightsUnavailable(f"{target}: cannot be kept: {error.strerror or error}") from error

    def fetch(self, file: ArtifactFile, target: Path, on_bytes: OnBytes) -> None:
        """A second name for the same file; where the folders lie on two file systems, a copy whose hash is checked."""
        source = self.path(file.sha256)
        if not self.has(file.sha256, file.size_bytes):
            raise WeightsUnavailable(f"{source}: is not there, or was cut; import or build it again")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            if _try_link(source, target):
                on_bytes(file.size_bytes)
            else:
                copy_checked(source, file, target, on_bytes, self._terms)
        except OSError as error:
            raise WeightsUnavailable(f"{target}: cannot be written: {error.strerror or error}") from error

    def seal(self, sha256: str) -> None:
        """It was brought whole to its path: from now on nobody changes it."""
        _seal(self.path(sha256))

    def delete(self, sha256: str) -> None:
        """Forget it, where it is there."""
        self.path(sha256).unlink(missing_ok=True)

    def kept(self) -> Iterator[tuple[str, float]]:
        """What is half written by a process that ended is as old as its file and may be collected."""
        for path in self._folder.glob("??/*"):
            try:
                put_at = path.stat().st_mtime
            except OSError:
                continue  # another process has just removed it
            if _SHA256.fullmatch(path.name):
                yield path.name, put_at
            elif path.suffix == ".part" and time.time() - put_at > PART_AGE_MAX_S:
                path.unlink(missing_ok=True)


def _seal(path: Path) -> None:
    path.chmod(READ_ONLY)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _try_link(path: Path, target: Path) -> bool:
    """False: they lie on two file systems, or on one that has no second names."""
    try:
        os.link(path, target)
    except OSError:
        return False
    return True
