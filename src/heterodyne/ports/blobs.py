"""What the registry asks of a place that keeps bytes by their SHA-256."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from heterodyne.domain.artifact import ArtifactFile

OnBytes = Callable[[int], None]  # hears how many more have come


class BlobStore(Protocol):
    """Blocking: callers run it outside the event loop."""

    def has(self, sha256: str, size_bytes: int) -> bool:
        """Whether it is there, of this size."""
        ...

    def put(self, path: Path, sha256: str, *, is_ours: bool = False) -> None:
        """Keep the file, which has this hash; one that `is_ours` nobody will change, so a second name is enough."""
        ...

    def fetch(self, file: ArtifactFile, target: Path, on_bytes: OnBytes) -> None:
        """Bring it to `target`, whole and with the right hash or not at all."""
        ...

    def delete(self, sha256: str) -> None:
        """Forget it, where it is there."""
        ...

    def kept(self) -> Iterator[tuple[str, float]]:
        """All, with when each was last put, in seconds since the epoch."""
        ...
