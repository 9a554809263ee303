"""Spool files: records with their length and checksum before them, written by one worker, read while it writes.

A file is locked for as long as its writer may add to it, so a reader knows a pause from a death.
"""

import fcntl
import os
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import Struct as Layout

import msgspec

from heterodyne.audit.line import LINE_BYTES_MAX
from heterodyne.domain.audit import AuditEntry

SUFFIX = ".spool"

_FRAME = Layout("<II")  # bytes of the record, CRC-32 of the record
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[AuditEntry] = msgspec.msgpack.Decoder(AuditEntry)


def frame(entry: AuditEntry) -> bytes:
    """One record."""
    record = _encoder.encode(entry)
    return _FRAME.pack(len(record), zlib.crc32(record)) + record


def records(data: bytes) -> Iterator[tuple[AuditEntry, int]]:
    """The whole records at the beginning of some bytes, each with where it ends; a torn one and all after it wait."""
    start = 0
    while start + _FRAME.size <= len(data):
        size, checksum = _FRAME.unpack_from(data, start)
        end = start + _FRAME.size + size
        record = data[start + _FRAME.size : end]
        if size > LINE_BYTES_MAX or end > len(data) or zlib.crc32(record) != checksum:
            return
        yield _decoder.decode(record), end
        start = end


def create_spool(folder: Path, writer: str, number: int) -> tuple[Path, int]:
    """A new file, locked before another process can see it under its name; no name is ever used twice."""
    name = f"{writer}-{number:08}-{secrets.token_hex(4)}"
    draft = folder / f".{name}.draft"
    path = folder / f"{name}{SUFFIX}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.rename(path)
    except OSError:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
        raise
    return path, descriptor


def is_writer_gone(descriptor: int) -> bool:
    """Whether nothing will be added to a file any more."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
