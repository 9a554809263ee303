"""Spool segments: files of record batches, each batch with its length and checksum.

A worker appends to `NAME.open`; a segment that is complete is called `NAME.ready`. NAME is `worker.life.number`, where
a life is one start of a worker, so a worker that comes back never meets the files of its former life. A name that ends
in AGAIN or RECOVERED is that of a segment whose records another may hold too.
"""

import os
import struct
import zlib
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec

from heterodyne.books.encoding import BATCH_MAX
from heterodyne.domain.record_block import RecordBlock, join_encoded
from heterodyne.domain.spool_place import SpoolPlace

OPEN, READY, DAMAGED, SLOTS = ".open", ".ready", ".damaged", ".slots"
AGAIN, RECOVERED = "-again", ".recovered"
FRAME = struct.Struct("<II")  # length and CRC-32 of the batch that follows
BATCH_BYTES_MAX = 16 << 20  # a length beyond is no length

_sync = getattr(os, "fdatasync", os.fsync)


class WrittenBatch(NamedTuple):
    """Records, and where in the file they end."""

    records: RecordBlock
    end: int


class SegmentTail(Enum):
    """What follows the last whole batch that was read."""

    NOTHING = "nothing"
    MORE = "more"
    CUT = "cut"  # a batch that is being written, or whose writer died: its slots are still taken
    DAMAGED = "damaged"


class SegmentWriter:
    """One open segment, appended to by one thread. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def append(self, batch: bytes) -> None:
        """On the disk when it returns; what could only be written in part is taken back."""
        content = memoryview(FRAME.pack(len(batch), zlib.crc32(batch)) + batch)
        written = 0
        try:
            while written < len(content):
                written += os.write(self._file, content[written:])
            _sync(self._file)
        except OSError:
            os.ftruncate(self._file, self.size_bytes)
            raise
        self.size_bytes += written

    def close(self) -> None:
        """Hand it over, or remove it when nothing is in it."""
        os.close(self._file)
        if self.size_bytes:
            self.path.rename(self.path.with_suffix(READY))
        else:
            self.path.unlink(missing_ok=True)


def segment_path(folder: Path, worker: str, life: str, number: int, *, may_repeat: bool = False) -> Path:
    """Where a segment is while it is written."""
    return folder / f"{worker}.{life}.{number:08d}{AGAIN if may_repeat else ''}{OPEN}"


def place_of(segment: str, start: int, end: int) -> SpoolPlace:
    """Some bytes of the segment with this name."""
    return SpoolPlace(segment=segment, start=start, end=end, may_repeat=segment.endswith((AGAIN, RECOVERED)))


def segments(folder: Path) -> list[Path]:
    """Every segment, the oldest lives first."""
    found = [path for path in folder.iterdir() if path.suffix in (OPEN, READY)]
    return sorted(found, key=lambda path: path.stem.split(".")[1:])


def spool_bytes(folder: Path) -> int:
    """What all segments take."""
    total = 0
    for entry in os.scandir(folder):
        if entry.name.endswith((OPEN, READY, DAMAGED)):
            try:
                total += entry.stat().st_size
            except FileNotFoundError:
                continue  # collected in this moment
    return total


def read_batches(path: Path, start: int, bytes_max: int) -> tuple[list[WrittenBatch], SegmentTail]:
    """Whole batches from `start` on, one at least and then up to so many bytes; and what follows them."""
    batches: list[WrittenBatch] = []
    with path.open("rb") as file:
        file.seek(start)
        end = start
        while end - start < bytes_max:
            head = file.read(FRAME.size)
            if len(head) < FRAME.size:
                return batches, SegmentTail.CUT if head else SegmentTail.NOTHING
            length, checksum = FRAME.unpack(head)
            if length > BATCH_BYTES_MAX:
                return batches, SegmentTail.DAMAGED
            content = file.read(length)
            if len(content) < length:
                return batches, SegmentTail.CUT
            if zlib.crc32(content) != checksum:
                return batches, SegmentTail.DAMAGED
            try:
                records = RecordBlock.read(content)
            except msgspec.DecodeError:
                return batches, SegmentTail.DAMAGED
            end += FRAME.size + length
            batches.append(WrittenBatch(records, end))
    return batches, SegmentTail.MORE


def write_segment(path: Path, records: list[bytes]) -> None:
    """A whole segment or none."""
    partial = path.with_suffix(".partial")
    try:
        with partial.open("wb") as file:
            for start in range(0, len(records), BATCH_MAX):
                batch = join_encoded(records[start : start + BATCH_MAX])
                file.write(FRAME.pack(len(batch), zlib.crc32(batch)) + batch)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except OSError:
        partial.unlink(missing_ok=True)  # a full disk needs the room
        raise
