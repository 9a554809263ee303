"""The log's files: segments named by number, each read line by line in bounded memory."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from heterodyne.audit.line import LINE_BYTES_MAX

_NAME = re.compile(r"audit-([0-9]{6,})\.jsonl", re.ASCII)


class AuditSegment(Struct, frozen=True):
    """One file of the log."""

    number: int
    path: Path

    @property
    def name(self) -> str:
        return self.path.name


def segment_path(folder: Path, number: int) -> Path:
    """Where a segment is."""
    return folder / f"audit-{number:06}.jsonl"


def list_segments(folder: Path) -> list[AuditSegment]:
    """Those that are there, by number."""
    if not folder.is_dir():
        return []
    found = ((_NAME.fullmatch(name), name) for name in os.listdir(folder))
    return sorted(
        (AuditSegment(int(match[1]), folder / name) for match, name in found if match),
        key=lambda segment: segment.number,
    )


def read_lines(path: Path) -> Iterator[bytes]:
    """Lines with their newlines; the last may lack it, and of one that is too long only the beginning is given."""
    with path.open("rb", buffering=1 << 20) as file:
        while line := file.readline(LINE_BYTES_MAX):
            if len(line) == LINE_BYTES_MAX and line[-1:] != b"\n":
                _skip_line(file)
                line += b"\n"  # whole as far as the reader is concerned, and no entry
            yield line


def sync_folder(folder: Path) -> None:
    """Put the names of its files on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(1 << 20)) and rest[-1:] != b"\n":
        pass
