"""What of an object store may be kept on this machine: what was used least lately goes first, pins never."""

import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.files import exclusive


class DiskTier:
    """A folder of blobs and, in `served`, folders of artifacts with second names of the same files."""

    def __init__(self, folder: Path, bytes_max: float) -> None:
        self._folder, self._served = folder, folder / "served"
        self._blobs = LocalBlobs(folder / "blobs")
        self._bytes_max = bytes_max

    def lacking(self, files: Iterable[ArtifactFile]) -> list[ArtifactFile]:
        """Of these, those that have to be brought."""
        return [file for file in files if not self._blobs.has(file.sha256, file.size_bytes)]

    @contextmanager
    def room_for(self, size_bytes: int, pinned: Collection[str]) -> Iterator[None]:
        """So many bytes more may be brought in the block, and nobody else brings any meanwhile.

        Raises WeightsUnavailable where what is pinned, by digest, leaves no room.
        """
        if self._bytes_max == inf:
            yield
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with exclusive(self._folder / "room.lock", lambda: None):
            self._make_room(size_bytes, pinned)
            yield

    def _make_room(self, size_bytes: int, pinned: Collection[str]) -> None:
        while (there := sum(path.stat().st_size for path in self._files())) + size_bytes > self._bytes_max:
            if not self._free_unserved(there + size_bytes - self._bytes_max) and not self._try_drop(pinned):
                raise WeightsUnavailable(
                    f"{self._folder}: {size_bytes / 1e9:.1f} GB more do not fit in registry.local_max_gib, "
                    f"{self._bytes_max / 2**30:g}, of which {there / 1e9:.1f} GB are pinned by pools and registry.pins"
                )

    def _files(self) -> list[Path]:
        return [self._blobs.path(sha256) for sha256, _ in self._blobs.kept()]

    def _free_unserved(self, wanted: float) -> bool:
        """Blobs that no folder has a name for, the oldest first; whether there was one."""
        served = {path.stat().st_ino for path in self._served.rglob("*") if path.is_file()}
        unserved = [path for path in self._files() if path.stat().st_ino not in served]
        for path in sorted(unserved, key=lambda one: one.stat().st_mtime):
            if wanted <= 0:
                break
            wanted -= path.stat().st_size
            path.unlink()
        return bool(unserved)

    def _try_drop(self, pinned: Collection[str]) -> bool:
        """The folder that was used least lately; an engine that has its files open keeps them."""
        folders = [path for path in self._served.glob("*") if path.is_dir() and path.name not in pinned]
        if not folders:
            return False
        shutil.rmtree(min(folders, key=lambda one: one.stat().st_mtime))
        return True
