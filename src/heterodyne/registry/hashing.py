"""SHA-256 of files, in constant memory."""

import hashlib
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


def sha256_of(path: Path) -> str:
    """The hash of a file, as lower-case hexadecimal."""
    with path.open("rb") as file:
        return hash_stream(file).hexdigest()


def hash_stream(file: BinaryIO) -> "hashlib._Hash":
    """A running hash that has seen the rest of `file`."""
    running = hashlib.sha256()
    while chunk := file.read(CHUNK_BYTES):
        running.update(chunk)
    return running
