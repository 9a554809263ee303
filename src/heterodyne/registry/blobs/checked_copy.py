"""A file of an artifact brought to a path: whole and with the right hash, or not at all."""

import os
from pathlib import Path

from heterodyne.domain.artifact import ArtifactFile
from heterodyne.domain.errors import WeightsCorrupt
from heterodyne.ports.blobs import OnBytes
from heterodyne.registry.blobs.ranged_read import ReadRange, ReadTerms, read_ranged
from heterodyne.registry.files import running_hash


def bring_checked(
    read: ReadRange, file: ArtifactFile, target: Path, *, whence: str, on_bytes: OnBytes, terms: ReadTerms
) -> None:
    """From anywhere that can be read in ranges. What came of one that was broken off stays for the next time."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    was_there = True
    while was_there:
        running, expected = running_hash(file)
        was_there = read_ranged(read, file.size_bytes, part, running, on_bytes=on_bytes, terms=terms) > 0
        if (actual := running.hexdigest()) == expected:
            part.replace(target)
            return
        part.unlink()  # what was there may have been another's, or have lost something: then once more from nothing
    raise WeightsCorrupt(f"{whence}: its hash is {actual}, expected {expected}; the file was altered")


def copy_checked(source: Path, file: ArtifactFile, target: Path, on_bytes: OnBytes, terms: ReadTerms) -> None:
    """From another file system."""
    descriptor = os.open(source, os.O_RDONLY)
    try:
        bring_checked(
            lambda start, end: os.pread(descriptor, end - start, start),
            file,
            target,
            whence=str(source),
            on_bytes=on_bytes,
            terms=terms,
        )
    finally:
        os.close(descriptor)
