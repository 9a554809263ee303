"""A file whose layout is known before its first byte: a head, then tensors one after the other.

A write that was broken off, by whatever, goes on at the first tensor that was not surely on the disk: a mark beside the
file says how many are, and is written after them. The file has its name only when it is whole.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.files import CHUNK_BYTES, sha256_of

MARK_EVERY_BYTES = 64 << 20


class WriteMark(Struct, frozen=True, kw_only=True):
    """How far a file that is not whole has come."""

    head_sha256: str  # of what it was to begin with; another head is another file
    tensors: int  # that are on the disk
    size_bytes: int  # up to their end


class WrittenFile(Struct, frozen=True, kw_only=True):
    """One whole file."""

    path: Path
    size_bytes: int
    sha256: str


def write_laid_out(
    path: Path,
    head: bytes,
    sizes: Sequence[int],
    make: Callable[[int], bytes | memoryview],
    *,
    on_tensor: Callable[[int], None] = lambda _: None,
    mark_every_bytes: int = MARK_EVERY_BYTES,
) -> WrittenFile:
    """Write `path`: `make` gives the bytes of a tensor by its number, `sizes` how many they are.

    `on_tensor` hears the number of tensors done. A path that is whole already is left as it is.
    """
    if path.is_file():
        return WrittenFile(path=path, size_bytes=path.stat().st_size, sha256=sha256_of(path))
    part, mark_path = path.with_name(path.name + ".part"), path.with_name(path.name + ".mark")
    head_sha256 = hashlib.sha256(head).hexdigest()
    mark = _try_mark(mark_path, head_sha256)
    try:
        with part.open("r+b" if mark is not None and part.is_file() else "w+b") as file:
            first, running = _resumed(file, head, mark)
            marked_bytes = file.tell()
            for index in range(first, len(sizes)):
                data = make(index)
                assert len(data) == sizes[index], "a layout is kept"
                file.write(data)
                running.update(data)
                on_tensor(index + 1)
                if file.tell() - marked_bytes >= mark_every_bytes and index + 1 < len(sizes):
                    marked_bytes = _mark(file, mark_path, head_sha256, index + 1)
            _sync(file)
            size_bytes = file.tell()
        part.replace(path)
        mark_path.unlink(missing_ok=True)
    except OSError as error:
        raise WeightsUnavailable(f"{path}: cannot be written: {error.strerror or error}") from error
    return WrittenFile(path=path, size_bytes=size_bytes, sha256=running.hexdigest())


def _resumed(file: BinaryIO, head: bytes, mark: WriteMark | None) -> tuple[int, "hashlib._Hash"]:
    """The first tensor to write, with the file at its place, and a hash that has seen what is before."""
    running = hashlib.sha256()
    if mark is not None and os.fstat(file.fileno()).st_size >= mark.size_bytes:
        left = mark.size_bytes
        while left:
            chunk = file.read(min(CHUNK_BYTES, left))
            running.update(chunk)
            left -= len(chunk)
        file.truncate()
        return mark.tensors, running
    file.seek(0)
    file.truncate()
    file.write(head)
    running.update(head)
    return 0, running


def _mark(file: BinaryIO, mark_path: Path, head_sha256: str, tensors: int) -> int:
    _sync(file)
    size_bytes = file.tell()
    arriving = mark_path.with_name(mark_path.name + ".part")
    with arriving.open("wb") as written:
        written.write(msgspec.json.encode(WriteMark(head_sha256=head_sha256, tensors=tensors, size_bytes=size_bytes)))
        _sync(written)
    arriving.replace(mark_path)
    return size_bytes


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _try_mark(mark_path: Path, head_sha256: str) -> WriteMark | None:
    try:
        mark = msgspec.json.decode(mark_path.read_bytes(), type=WriteMark)
    except (OSError, msgspec.MsgspecError):
        return None
    return mark if mark.head_sha256 == head_sha256 else None
