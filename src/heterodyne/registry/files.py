"""Files that several processes share: a lock between them, and the SHA-256 of what they hold."""

import fcntl
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


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


def hash_stream(file: BinaryIO, running: "hashlib._Hash | None" = None) -> "hashlib._Hash":
    """A running hash that has seen the rest of `file`."""
    running = running or hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        running.update(chunk)
    return running
