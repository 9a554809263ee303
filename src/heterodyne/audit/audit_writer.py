"""The supervisor's end of the audit log: collects what workers spooled, records changes, and has anchors written."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from heterodyne.audit.anchor import AnchorKeeper, anchor_stores
from heterodyne.audit.collect import collect
from heterodyne.audit.key import ContentKey, open_key
from heterodyne.audit.log import AuditLog, LogState
from heterodyne.audit.segments import list_segments
from heterodyne.audit.settings import AuditSettings, folder_of, key_file_of, spool_folder
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import HeterodyneError
from heterodyne.telemetry import log

COLLECT_INTERVAL_S = 0.25
RETRY_INTERVAL_S = 5.0  # after a failure
CLOSE_TIMEOUT_S = 60.0

_log = log.get("audit")


class AuditWriterState(Struct, frozen=True, kw_only=True):
    """What the writer has done."""

    state: LogState
    collected: int
    failures: int  # times that entries could not be added, or an anchor not be put
    failure: str | None  # the last of them, in words; None: all is well


class AuditWriter:
    """Opens the log, or raises; then works in a thread until it is closed."""

    def __init__(self, settings: AuditSettings, state_dir: Path, *, clock: Callable[[], float] = time.time) -> None:
        folder = folder_of(settings, state_dir)
        # With a new key an old log could neither be verified nor gone on with: a lost key is not made again.
        key = open_key(key_file_of(settings, folder), may_create=not list_segments(folder))
        self.content_key: ContentKey = key.content
        self.spool_folder = spool_folder(folder)
        self._audit_log = AuditLog(folder, key, settings, clock=clock)
        self._anchors = AnchorKeeper(key, settings, anchor_stores(settings), clock)
        self._collected = 0
        self._failures = 0
        self._failure: str | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit-writer", daemon=True)
        self._thread.start()

    def record(self, change: ChangeEntry) -> None:
        """Blocks until the change is on disk; raises `StoreUnavailable` or `AuditBroken` when it is not."""
        self._audit_log.append([change])

    def snapshot(self) -> AuditWriterState:
        """What it has done, for meters and tests."""
        return AuditWriterState(
            state=self._audit_log.snapshot(),
            collected=self._collected,
            failures=self._failures,
            failure=self._failure,
        )

    def close(self) -> None:
        """Collect what is there, anchor it, and let go of the log. Workers are to be gone by then."""
        self._closing.set()
        self._thread.join(timeout=CLOSE_TIMEOUT_S)
        self._audit_log.close()

    def _run(self) -> None:
        wait_s = COLLECT_INTERVAL_S
        while not self._closing.wait(wait_s):
            wait_s = COLLECT_INTERVAL_S if self._work(is_last=False) else RETRY_INTERVAL_S
        self._work(is_last=True)

    def _work(self, *, is_last: bool) -> bool:
        try:
            self._collected += collect(self.spool_folder, self._audit_log)
            state = self._audit_log.snapshot()
            if self._anchors.is_due(state) or (is_last and self._anchors.is_behind(state)):
                self._anchors.anchor(state)
        except HeterodyneError as error:
            self._fail(error.message)
        except Exception as error:  # noqa: BLE001  # the root of a thread; the spools keep what is not collected
            self._fail(f"{type(error).__name__}: our mistake")
        else:
            if self._failure is not None and not self._anchors.is_failing:
                _log.warning("audit_works_again")
                self._failure = None
            return True
        return False

    def _fail(self, words: str) -> None:
        if words != self._failure:
            _log.error("audit_failing", error=words)
        self._failure = words  # before it is counted: the other thread that sees the count finds the words
        self._failures += 1
