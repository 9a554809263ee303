"""Bytes in a folder of this machine, one file for each SHA-256, written once and never changed."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.files import sha256_of

_SHA256 = re.compile(r"[0-9a-f]{64}")
READ_ONLY = 0o444


class LocalBlobs:
    """One folder, which several processes may share: a file appears whole, or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

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
            arriving.chmod(READ_ONLY)
            with arriving.open("rb") as file:
                os.fsync(file.fileno())
            arriving.replace(target)
        except OSError as error:
            raise WeightsUnavailable(f"{target}: cannot be kept: {error.strerror or error}") from error

    def fetch(self, sha256: str, size_bytes: int, target: Path, on_bytes: OnBytes) -> None:
        """A second name for the same file; where the folders lie on two file systems, a copy whose hash is checked."""
        source = self.path(sha256)
        if not self.has(sha256, size_bytes):
            raise WeightsUnavailable(f"{source}: is not there, or was cut; import or build it again")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            if not _try_link(source, target):
                _copied(source, target, sha256)
        except OSError as error:
            raise WeightsUnavailable(f"{target}: cannot be written: {error.strerror or error}") from error
        on_bytes(size_bytes)

    def delete(self, sha256: str) -> None:
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


PART_AGE_MAX_S = 86_400.0


def _try_link(path: Path, target: Path) -> bool:
    """False: they lie on two file systems, or on one that has no second names."""
    try:
        os.link(path, target)
    except OSError:
        return False
    return True


def _copied(source: Path, target: Path, sha256: str) -> None:
    arriving = target.with_name(target.name + ".part")
    shutil.copyfile(source, arriving)
    if (actual := sha256_of(arriving)) != sha256:
        arriving.unlink()
        raise WeightsCorrupt(f"{source}: its SHA-256 is {actual}; the file was altered")
    arriving.replace(target)
