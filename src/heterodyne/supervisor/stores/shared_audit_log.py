"""One process's part in the audit log: it writes to the log, or hands its changes to the process that does."""

import asyncio
import os
import threading
from pathlib import Path

from heterodyne.audit.audit_writer import AuditWriter, AuditWriterState
from heterodyne.audit.key import open_key
from heterodyne.audit.segments import sync_folder
from heterodyne.audit.settings import AuditSettings, folder_of, key_file_of, spool_folder
from heterodyne.audit.spool_file import create_spool, frame
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import AuditBroken, HeterodyneError, StoreInvalid, StoreUnavailable
from heterodyne.telemetry import log
from heterodyne.telemetry.trouble import Trouble

TAKE_INTERVAL_S = 5.0  # how often a log that another process writes is asked for
BROKEN_INTERVAL_S = 60.0  # how often a log that is not as it was written, which takes long to read, is looked at again

_log = log.get("assembly")


class SharedAuditLog:
    """A log has one writer. Several gateways of one machine, or a gateway and a terminal, may share it all the same:
    what other processes spool, the writer collects. Every method blocks, and any thread may call it."""

    def __init__(self, settings: AuditSettings, state_dir: Path) -> None:
        self._settings = settings
        self._state_dir = state_dir
        self._folder = folder_of(settings, state_dir)
        self.spool_folder = spool_folder(self._folder)
        self._guard = threading.Lock()
        self._writer: AuditWriter | None = None
        self._is_closed = False
        self._handed = 0

    def try_take(self) -> bool:
        """Whether this process writes the log; False while another one does. Raises where the log cannot be opened."""
        with self._guard:
            if self._is_closed:
                raise StoreUnavailable(f"{self._folder}: the audit log is closed")
            if self._writer is None:
                try:
                    self._writer = AuditWriter(self._settings, self._state_dir)
                except StoreInvalid:
                    return False
                except OSError as error:
                    raise StoreUnavailable(f"{self._folder}: the audit log cannot be read: {error.strerror}") from error
            return True

    def record(self, change: ChangeEntry) -> None:
        """Keep a change on the disk, or raise."""
        if self.try_take():
            assert self._writer is not None
            self._writer.record(change)
        else:
            self._hand_over(change)

    def content_key(self) -> bytes:
        """What workers hash prompts and answers with."""
        return open_key(key_file_of(self._settings, self._folder), may_create=False).content.expose()

    def try_snapshot(self) -> AuditWriterState | None:
        """What the writer has done; None where that is another process."""
        writer = self._writer
        return None if writer is None else writer.snapshot()

    def close(self) -> None:
        """Collect what is there and let another process have the log."""
        with self._guard:
            self._is_closed = True
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def _hand_over(self, change: ChangeEntry) -> None:
        """A file of its own for each, in the order of their numbers."""
        with self._guard:
            self._handed += 1
            number = self._handed
        try:
            self.spool_folder.mkdir(mode=0o700, exist_ok=True)
            path, descriptor = create_spool(self.spool_folder, f"changes-{os.getpid()}", number)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(frame(change))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                path.unlink(missing_ok=True)
                raise
            sync_folder(self.spool_folder)
        except OSError as error:
            raise StoreUnavailable(f"{self.spool_folder}: the change cannot be spooled: {error.strerror}") from error


async def take_audit_log(audit: SharedAuditLog) -> None:
    """Until this process writes the log: the one that does may leave, and then another has to collect."""
    trouble = Trouble(_log, "audit_not_open", then="changes are refused")
    while True:
        try:
            if await asyncio.to_thread(audit.try_take):
                trouble.worked()
                return
        except HeterodyneError as error:
            trouble.failed(error)
            if isinstance(error, AuditBroken):
                await asyncio.sleep(BROKEN_INTERVAL_S)
        await asyncio.sleep(TAKE_INTERVAL_S)
