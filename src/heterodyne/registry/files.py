"""Files that several processes share: a lock between them, and the hashes of what they hold."""

import fcntl
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from blake3 import blake3

from heterodyne.domain.artifact import ArtifactFile

CHUNK_BYTES = 1 << 20


class RunningHash(Protocol):
    """Of hashlib, or like those."""

    def update(self, data: bytes, /) -> object: ...

    def hexdigest(self) -> str: ...


@contextmanager
def exclusive(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock, after `on_wait` and a wait if another process has it; the system releases it when its holder ends
    in any way. The file itself stays behind, empty."""
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_whole(path: Path, content: bytes) -> None:
    """A new file in the place of what was there: another name of the old one keeps its bytes."""
    arriving = path.with_name(path.name + ".part")
    arriving.write_bytes(content)
    arriving.replace(path)


def sha256_of(*paths: Path) -> str:
    """The hash of a file, or of several one after the other, as lower-case hexadecimal."""
    running = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hash_stream(file, running)
    return running.hexdigest()


def hashes_of(path: Path) -> tuple[str, str]:
    """SHA-256 and BLAKE3 of a file, read once."""
    sha256, fast = hashlib.sha256(), blake3()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            sha256.update(chunk)
            fast.update(chunk)
    return sha256.hexdigest(), fast.hexdigest()


def running_hash(file: ArtifactFile) -> tuple[RunningHash, str]:
    """What shows whether the bytes of a file are right, and what it has to come to: the faster of its two."""
    return (blake3(), file.blake3) if file.blake3 else (hashlib.sha256(), file.sha256)


def hash_stream(file: BinaryIO, running: "hashlib._Hash | None" = None) -> "hashlib._Hash":
    """A running hash that has seen the rest of `file`."""
    running = running or hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        running.update(chunk)
    return running
