"""Brings what workers spooled into the log: every record once, in the order of its worker, whatever is killed when."""

import os
from pathlib import Path

import msgspec

from heterodyne.audit.line import LINE_BYTES_MAX
from heterodyne.audit.log import AuditLog, PendingEntry
from heterodyne.audit.spool_file import SUFFIX, is_writer_gone, records
from heterodyne.domain.audit import RecoveredEntry
from heterodyne.domain.errors import InvalidField, StoreUnavailable

CHUNK_BYTES = LINE_BYTES_MAX + 64  # holds any record whole


def collect(folder: Path, log: AuditLog) -> int:
    """Add all whole records to the log, remove files that are read to the end of a writer that is gone; how many came.

    How far a file was read stands in the same lines as its records, so a crash between reading a file and removing it
    brings nothing twice.
    """
    count, unreadable = 0, ""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
        log.forget_spools(set(names))
        for name in names:
            try:
                count += _collect_file(folder / name, log)
            except (msgspec.DecodeError, InvalidField) as error:
                unreadable = f"{name}: {error}"  # as of a newer gateway: the file waits, and no other one with it
    except FileNotFoundError:
        return count  # no worker has spooled anything yet
    except OSError as error:
        raise StoreUnavailable(f"{folder}: what workers spooled cannot be read: {error.strerror}") from error
    if unreadable:
        raise StoreUnavailable(f"{folder}: an entry that this version cannot read is left where it is: {unreadable}")
    return count


def _collect_file(path: Path, log: AuditLog) -> int:
    count = 0
    with path.open("rb") as file:
        is_complete = is_writer_gone(file.fileno())  # asked before reading, so that nothing is added after
        while True:
            start = log.collected(path.name)
            file.seek(start)
            data = file.read(CHUNK_BYTES)
            batch = [PendingEntry(entry, path.name, start + end) for entry, end in records(data)]
            if not batch:
                break
            log.take(batch)
            count += len(batch)
        if is_complete:
            torn_bytes = os.fstat(file.fileno()).st_size - start
            if torn_bytes > 0:
                log.take(
                    [PendingEntry(RecoveredEntry(file=path.name, cut_bytes=torn_bytes), path.name, start + torn_bytes)]
                )
            path.unlink()
    return count
