"""The log's one writer: appends batches to the chain, begins segments, and takes up the thread after a crash.

A batch is on the disk before the head names it, and the head names it before the caller is answered: the head may lag
behind the file, never run ahead of it.
"""

import fcntl
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from heterodyne.audit.finding import Damage, VerificationReport
from heterodyne.audit.head import Head, try_read_head, write_head
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import LINE_BYTES_MAX, AuditLine, write_line
from heterodyne.audit.segments import list_segments, segment_path, sync_folder
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import AuditEntry, RecoveredEntry, StartEntry
from heterodyne.domain.errors import AuditBroken, InvalidField, StoreInvalid, StoreUnavailable


class PendingEntry(Struct, frozen=True):
    """An entry on its way into the log."""

    entry: AuditEntry
    spool: str = ""  # the spool file it was read from; empty: none
    spool_end: int = 0  # where its record ends there, in bytes


class LogState(Struct, frozen=True, kw_only=True):
    """How far the log goes."""

    log: str
    seq: int
    hash: str
    segment: int
    segment_bytes: int


class AuditLog:
    """An open log. Any thread may append; one process may have it open."""

    def __init__(
        self,
        folder: Path,
        key: AuditKey,
        settings: AuditSettings,
        *,
        after_break: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._key = key
        self._settings = settings
        self._clock = clock
        self._guard = threading.Lock()
        self._spools: dict[str, int] = {}
        self._descriptor = -1  # of the last segment; below 0: its end has to be looked for first
        self._lock = _lock(folder)
        try:
            self._open(after_break)
        except OSError as error:
            self.close()
            raise StoreUnavailable(f"{folder}: the audit log cannot be opened: {error.strerror}") from error
        except BaseException:
            self.close()
            raise

    def append(self, entries: Sequence[AuditEntry]) -> int:
        """Add entries and return the number of the last; they are kept, all of them, when this returns."""
        return self.take([PendingEntry(entry) for entry in entries])

    def take(self, batch: Sequence[PendingEntry]) -> int:
        """As `append`, for entries of spools: how far each spool was read is in the same lines as its entries."""
        with self._guard:
            if self._lock < 0:
                raise StoreUnavailable(f"{self._folder}: the audit log is closed")
            try:
                if self._descriptor < 0:
                    self._open(after_break=False)
                if self._size >= self._settings.segment_bytes_max:
                    self._begin_segment(self._segment + 1)
                if batch:
                    self._write(batch)
            except OSError as error:
                self._rewind()
                raise StoreUnavailable(f"{self._folder}: the audit log cannot be written: {error.strerror}") from error
            return self._seq

    def collected(self, spool: str) -> int:
        """Where to go on reading in a spool, in bytes."""
        return self._spools.get(spool, 0)

    def forget_spools(self, present: set[str]) -> None:
        """Keep no account of spools that are gone."""
        with self._guard:
            self._spools = {name: end for name, end in self._spools.items() if name in present}

    def snapshot(self) -> LogState:
        """How far the log goes."""
        with self._guard:
            return LogState(
                log=self._log, seq=self._seq, hash=self._hash, segment=self._segment, segment_bytes=self._size
            )

    def close(self) -> None:
        """Let another process have it."""
        with self._guard:
            self._let_go()
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def _open(self, after_break: bool) -> None:
        segments = list_segments(self._folder)
        # The chain of the last two shows where it ends; the whole of it is for `heterodyne audit verify`.
        first = segments[-2].number if len(segments) > 1 and segments[-2].number > 1 else None
        self._spools = {}
        verdict = verify(self._folder, self._key, from_segment=first, on_line=self._note_spools)
        self._log = verdict.log or secrets.token_hex(8)
        self._seq, self._hash = verdict.last_seq, verdict.last_hash
        self._segment = segments[-1].number if segments else 0
        if verdict.unacknowledged:
            self._open_broken(verdict, after_break)
        elif not segments:
            self._begin_segment(1)
        else:
            self._open_segment(verdict.unfinished_bytes)

    def _open_broken(self, verdict: VerificationReport, after_break: bool) -> None:
        first = verdict.findings[-min(verdict.unacknowledged, len(verdict.findings))]
        if not after_break:
            raise AuditBroken(
                f"{self._folder}: nothing is added to an audit log that is not as it was written.\n{first}\n"
                "`heterodyne audit verify` tells all of it. Keep a copy of the folder; then `heterodyne audit resume` "
                "begins a new segment that records the break."
            )
        if not any(finding.damage is Damage.HEAD for finding in verdict.findings):
            head = try_read_head(self._folder, self._key)
            if head is not None and head.seq > self._seq:
                self._log, self._seq, self._hash = head.log, head.seq, head.hash
        self._begin_segment(self._segment + 1, after_break=str(first))

    def _open_segment(self, cut_bytes: int) -> None:
        path = segment_path(self._folder, self._segment)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._size = os.fstat(self._descriptor).st_size - cut_bytes
        if cut_bytes:
            os.ftruncate(self._descriptor, self._size)
        if cut_bytes or not self._size:
            self._write([PendingEntry(RecoveredEntry(file=path.name, cut_bytes=cut_bytes))])
        else:
            self._write_head()  # it may lag behind

    def _begin_segment(self, number: int, after_break: str = "") -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        descriptor = os.open(segment_path(self._folder, number), flags, 0o600)
        self._let_go()
        self._descriptor, self._segment, self._size = descriptor, number, 0
        self._write([], after_break)

    def _write(self, batch: Sequence[PendingEntry], after_break: str = "") -> None:
        is_new = not self._size
        if is_new:
            spools = dict(self._spools)
            start = StartEntry(log=self._log, segment=self._segment, spools=spools, after_break=after_break)
            batch = [PendingEntry(start), *batch]
        seq, digest, at = self._seq, self._hash, self._clock()
        lines = []
        for one in batch:
            seq += 1
            spool = f"{one.spool}@{one.spool_end}" if one.spool else ""
            line, digest = write_line(self._key, seq=seq, at=at, entry=one.entry, previous=digest, spool=spool)
            if len(line) > LINE_BYTES_MAX:
                raise InvalidField(f"An audit entry of {len(line)} bytes; at most {LINE_BYTES_MAX} are kept.")
            lines.append(line)
        data = b"".join(lines)
        _write_all(self._descriptor, data)
        if self._settings.fsync:
            os.fsync(self._descriptor)
            if is_new:
                sync_folder(self._folder)
        # From here on the lines stay, whether the head can be written or not: a head must never outlive them.
        self._seq, self._hash, self._size = seq, digest, self._size + len(data)
        self._spools.update((one.spool, one.spool_end) for one in batch if one.spool)
        self._write_head()

    def _write_head(self) -> None:
        head = Head(log=self._log, seq=self._seq, hash=self._hash, segment=self._segment, at=self._clock())
        write_head(self._folder, self._key, head, is_synced=self._settings.fsync)

    def _rewind(self) -> None:
        """A batch failed halfway: take back what there is of it, or else look for the end before the next one."""
        if self._descriptor < 0:
            return
        try:
            os.ftruncate(self._descriptor, self._size)
            os.fsync(self._descriptor)
        except OSError:
            self._let_go()

    def _let_go(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _note_spools(self, line: AuditLine) -> None:
        if line.spool:
            name, _, end = line.spool.rpartition("@")
            self._spools[name] = int(end)
        elif (start := line.try_start()) is not None:
            self._spools = dict(start.spools)


def _lock(folder: Path) -> int:
    """A descriptor that holds the right to write; it ends with the process, however that ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / "writer.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"{folder}: the audit log cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise StoreInvalid(
            f"{folder}: another process writes to this audit log; it has one writer at a time"
        ) from error
    return descriptor


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
