"""SHA-256 of files, in constant memory."""

import hashlib
from pathlib import Path
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


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
