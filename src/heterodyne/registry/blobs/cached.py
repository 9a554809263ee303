"""An object store with a folder of this machine before it: what was brought once is not asked for again."""

from collections.abc import Iterator
from pathlib import Path

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.ports.blobs import BlobStore, OnBytes
from heterodyne.registry.blobs.local import LocalBlobs
from heterodyne.registry.files import exclusive


class CachedBlobs:
    """What is only in the folder is not kept: artifacts refer to what the object store has."""

    def __init__(self, local: LocalBlobs, record: BlobStore) -> None:
        self.local = local
        self._record = record

    def has(self, sha256: str, size_bytes: int) -> bool:
        """Whether it is where all machines find it."""
        return self._record.has(sha256, size_bytes)

    def put(self, path: Path, sha256: str, *, is_ours: bool = False) -> None:
        """To the object store, and a name for it here."""
        self._record.put(path, sha256, is_ours=is_ours)
        self.local.put(path, sha256, is_ours=is_ours)

    def fetch(self, file: ArtifactFile, target: Path, on_bytes: OnBytes) -> None:
        """From here; what is not is brought first, by one process at a time."""
        path = self.local.path(file.sha256)
        if not self.local.has(file.sha256, file.size_bytes):
            path.parent.mkdir(parents=True, exist_ok=True)
            with exclusive(path.parent / "lock", lambda: None):
                if not self.local.has(file.sha256, file.size_bytes):
                    self._record.fetch(file, path, on_bytes)
                    self.local.seal(file.sha256)
                    on_bytes = _nobody
        self.local.fetch(file, target, on_bytes)

    def delete(self, sha256: str) -> None:
        """In both places."""
        self._record.delete(sha256)
        self.local.delete(sha256)

    def kept(self) -> Iterator[tuple[str, float]]:
        """Of both places, each once."""
        known = dict(self._record.kept())
        yield from known.items()
        for sha256, put_at in self.local.kept():
            if sha256 not in known:
                yield sha256, put_at


def _nobody(_: int) -> None:
    """They were counted when they came."""
