"""What files ask of a place for their bytes: a folder, or an object store that several gateways share."""

from pathlib import Path
from typing import NamedTuple, Protocol


class StoredContent(NamedTuple):
    """One that is there."""

    id: str
    written_at: float  # seconds since the epoch


class FileContents(Protocol):
    """By the ids of their files; each call raises StoreUnavailable where the place does not answer, or is full."""

    async def put(self, id: str, source: Path) -> None:
        """All of a local file, which is gone afterwards; what was there by this id is replaced at once."""
        ...

    async def fetch(self, id: str, target: Path) -> bool:
        """All of it, into a local file; False: it is not there."""
        ...

    async def read(self, id: str, start: int, bytes_max: int) -> bytes:
        """A piece; empty behind the end, or where it is not there."""
        ...

    async def delete(self, id: str) -> None:
        """Where it is not there, that is what is wanted."""
        ...

    async def all(self) -> list[StoredContent]:
        """Whatever is there."""
        ...
