"""A worker's end of the audit log: takes entries at once, hashes and spools them in a thread of its own.

The queue is bounded in entries and in bytes, the spool in bytes. When either is full, or the disk is, the gateway
refuses requests or entries are dropped, as the settings say; a request that has no entry is counted in the log.
"""

import errno
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.audit.content import kept_answer, kept_body
from heterodyne.audit.key import ContentKey
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.spool_file import create_spool, frame
from heterodyne.domain.audit import AuditEntry, Content, GapEntry, RequestEntry
from heterodyne.telemetry import log
from heterodyne.wire.chunks import unframe

FLUSH_INTERVAL_S = 0.05
BATCH_ENTRIES = 1024
ENTRY_BYTES = 1024  # what an entry is taken to weigh beside its content
FILE_BYTES_MAX = 4 * 1024 * 1024
NAME_CHARS_MAX = 256  # of what a client calls a model
CLOSE_TIMEOUT_S = 10.0

_log = log.get("audit")


class AuditSpoolState(Struct, frozen=True, kw_only=True):
    """What a worker's spool has done."""

    spooled: int
    dropped: int  # requests without an entry; the log has their number
    queued: int
    queued_bytes: int
    backlog_bytes: int  # spooled and not collected
    is_failing: bool  # the disk, or the collector, does not keep up
    is_blocked: bool


class AuditSpool:
    """The sink of one worker. `write` is for one thread, the worker's loop."""

    def __init__(
        self,
        folder: Path,
        worker: str,
        key: ContentKey,
        settings: AuditSettings,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._worker = worker
        self._writer = f"{worker}-{int(clock() * 1000):012x}"  # files of a worker that was started again come later
        self._key = key
        self._settings = settings
        self._clock = clock
        self._queue: deque[tuple[RequestEntry, Content | None, int]] = deque()
        self._entries_max = settings.queue_entries_max
        self._bytes_max = settings.queue_bytes_max
        # Each counter has one thread that changes it: the first two the loop, the others the spool's own.
        self._bytes_in = 0
        self._dropped = 0
        self._bytes_out = 0
        self._lost = 0
        self._reported = 0  # of those dropped and lost, how many the log knows of
        self._spooled = 0
        self._backlog_bytes = 0
        self._frames: list[bytes] = []  # what is not on the disk yet; no more is gathered until it is
        self._is_failing = False
        self._file_bytes_max = min(FILE_BYTES_MAX, settings.spool_bytes_max // 8)
        self._closed_files: deque[tuple[Path, int]] = deque()
        self._number = 0
        self._descriptor = -1
        self._path = folder
        self._size = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit-spool", daemon=True)
        self._thread.start()

    @property
    def is_blocked(self) -> bool:
        """Whether new requests have to be refused. It is so a quarter before the queue is full: some are running."""
        if self._settings.when_full != "refuse":
            return False
        return (
            self._is_failing
            or 4 * len(self._queue) > 3 * self._entries_max
            or 4 * (self._bytes_in - self._bytes_out) > 3 * self._bytes_max
        )

    def write(self, entry: RequestEntry, content: Content | None = None) -> None:
        """Queue one entry; never blocks."""
        size = ENTRY_BYTES if content is None else ENTRY_BYTES + len(content.prompt) + content.answer_bytes
        queue = self._queue
        if queue and (len(queue) >= self._entries_max or self._bytes_in + size - self._bytes_out > self._bytes_max):
            self._dropped += 1
            return
        self._bytes_in += size
        queue.append((entry, content, size))

    def snapshot(self) -> AuditSpoolState:
        """What it has done, for meters and tests."""
        return AuditSpoolState(
            spooled=self._spooled,
            dropped=self._dropped + self._lost,
            queued=len(self._queue),
            queued_bytes=self._bytes_in - self._bytes_out,
            backlog_bytes=self._backlog_bytes,
            is_failing=self._is_failing,
            is_blocked=self.is_blocked,
        )

    def close(self) -> None:
        """Spool what is queued and stop; what cannot be spooled in time is logged as lost."""
        self._closing.set()
        self._thread.join(timeout=CLOSE_TIMEOUT_S)
        lost = len(self._queue) + len(self._frames) + self._unreported()
        if lost:
            _log.error("audit_entries_lost", worker=self._worker, entries=lost)
        if self._descriptor >= 0 and not self._thread.is_alive():
            os.close(self._descriptor)
            self._descriptor = -1

    def _run(self) -> None:
        while not self._closing.wait(FLUSH_INTERVAL_S):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        try:
            while self._queue or self._frames or self._unreported():
                if not self._frames:
                    self._gather()
                self._save()
        except OSError as error:
            self._fail(str(error.strerror or error))
        except Exception as error:  # noqa: BLE001  # the root of a thread: requests go on, or are refused, and say why
            self._fail(f"{type(error).__name__}: our mistake")
        else:
            if self._is_failing:
                _log.warning("audit_spooled_again", worker=self._worker)
            self._is_failing = False

    def _fail(self, words: str) -> None:
        if not self._is_failing:
            _log.error("audit_not_spooled", worker=self._worker, error=words, queued=len(self._queue))
        self._is_failing = True

    def _unreported(self) -> int:
        return self._dropped + self._lost - self._reported

    def _gather(self) -> None:
        unreported = self._unreported()
        if unreported:
            self._frames.append(frame(GapEntry(at=self._clock(), worker=self._worker, requests=unreported)))
            self._reported += unreported
        for _ in range(min(len(self._queue), BATCH_ENTRIES)):
            entry, content, size = self._queue.popleft()
            self._bytes_out += size
            self._lost += 1  # until it has its frame
            self._frames.append(frame(self._filled(entry, content)))
            self._lost -= 1

    def _filled(self, entry: RequestEntry, content: Content | None) -> AuditEntry:
        if len(entry.asked_model) > NAME_CHARS_MAX:
            entry = msgspec.structs.replace(entry, asked_model=entry.asked_model[:NAME_CHARS_MAX])
        if content is None:
            return entry
        answer = map(unframe, content.answer) if content.is_chunked else content.answer
        if content.is_kept:
            chars_max = self._settings.content_chars_max
            prompt = kept_body(content.prompt, chars_max)
            return msgspec.structs.replace(entry, prompt=prompt, answer=kept_answer(answer, chars_max))
        return msgspec.structs.replace(
            entry,
            prompt_hmac=self._key.hmac(entry.project, "prompt", (content.prompt,)),
            answer_hmac=self._key.hmac(entry.project, "answer", answer) if content.answer else "",
        )

    def _save(self) -> None:
        data = b"".join(self._frames)
        self._backlog_bytes = self._size + self._uncollected_bytes()
        if self._backlog_bytes + len(data) > self._settings.spool_bytes_max:
            raise OSError(errno.ENOSPC, "nobody collects what is spooled")
        if self._descriptor < 0 or self._size >= self._file_bytes_max:
            self._next_file()
        try:
            _write_all(self._descriptor, data)
            if self._settings.fsync:
                os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self._size)  # half a record would hide those after it
            raise
        self._size += len(data)
        self._backlog_bytes += len(data)
        self._spooled += len(self._frames)
        self._frames.clear()

    def _next_file(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path, descriptor = create_spool(self._folder, self._writer, self._number)
        if self._descriptor >= 0:
            self._closed_files.append((self._path, self._size))
            os.close(self._descriptor)
        self._path, self._descriptor, self._size = path, descriptor, 0
        self._number += 1

    def _uncollected_bytes(self) -> int:
        files = self._closed_files
        while files and not files[0][0].exists():
            files.popleft()
        return sum(size for _, size in files)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
