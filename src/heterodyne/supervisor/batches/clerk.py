"""Takes batches that nobody works on, as many as may run, fairly between projects, and has each seen through."""

import asyncio
import fcntl
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from heterodyne.batches.batch import decode_lease
from heterodyne.batches.notice import Notices
from heterodyne.batches.settings import BatchSettings
from heterodyne.batches.work_folder import DONE, WorkFolder
from heterodyne.ports.document_store import Document, DocumentStore
from heterodyne.ports.file_contents import FileContents
from heterodyne.supervisor.batches.keeper import BatchKeeper, LeaseLost
from heterodyne.supervisor.batches.kept_batch import KeptBatch, open_works
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import run_periodically

LOOK_S: Final = 1.0
AGAIN_S: Final = 5.0  # after a keeper has failed
PROJECT_SHARE: Final = 0.25  # of the places, that one project may have
HOLDER: Final = "holder"  # the file with this machine's name for itself
LOCK: Final = ".lock"
DONE_KEPT_S: Final = 60.0
DAY_S: Final = 86400.0

_log = log.get("batches")


class BatchClerk:
    """One per gateway."""

    def __init__(
        self,
        documents: DocumentStore,
        contents: FileContents,
        folder: Path,
        run_dir: Path,
        *,
        settings: Callable[[], BatchSettings],
        kept_days: Callable[[], float],
        clock: Callable[[], float] = time.time,
        done_kept_s: float = DONE_KEPT_S,
    ) -> None:
        self._documents = documents
        self._contents = contents
        self._folder = folder
        self._notices = Notices(run_dir)
        self._settings = settings  # as they are now
        self._kept_days = kept_days
        self._clock = clock
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._projects: dict[str, str] = {}  # of those, by batch
        self._again_at_s: dict[str, float] = {}
        self._done_kept_s = done_kept_s
        self._done: dict[Path, float] = {}  # folders of batches that have ended, and when they were first seen
        self._holder = ""

    async def run(self) -> None:
        """Until cancelled."""
        self._holder = await asyncio.to_thread(_holder, self._folder)
        try:
            await run_periodically("batches", self.look, LOOK_S)
        finally:
            for task in self._keepers.values():
                task.cancel()
            await asyncio.gather(*self._keepers.values(), return_exceptions=True)

    async def look(self) -> None:
        """Take what is to be taken."""
        await asyncio.to_thread(self._remove_done)
        settings = self._settings()
        if not settings.is_on:
            return
        works = await open_works(self._documents, self._clock())
        open_batches = {decode_lease(work.body).batch for work in works}
        self._again_at_s = {batch: at_s for batch, at_s in self._again_at_s.items() if batch in open_batches}
        for work in works:
            if len(self._keepers) >= settings.running_max:
                return
            await self._try_begin(work, settings)

    def _remove_done(self) -> None:
        """Folders of batches that have ended, a while after they were first seen: by then workers that died in the
        meantime are in the books."""
        now_s, done = time.monotonic(), set(self._folder.glob(f"*{DONE}"))
        self._done = {path: self._done.get(path, now_s) for path in done}
        for path, seen_s in self._done.items():
            if now_s - seen_s >= self._done_kept_s:
                WorkFolder(path).remove()

    def _kept_s(self) -> float:
        return self._kept_days() * DAY_S

    async def _try_begin(self, work: Document, settings: BatchSettings) -> None:
        kept = KeptBatch(self._documents, work, self._holder, self._clock, self._kept_s)
        if kept.id in self._keepers or self._again_at_s.get(kept.id, 0.0) > time.monotonic():
            return
        share = max(1, int(PROJECT_SHARE * settings.running_max))
        if Counter(self._projects.values())[kept.project] >= share:
            return
        lock = await asyncio.to_thread(_try_lock, self._folder / f"{kept.id}{LOCK}")
        if lock is None:
            return  # another gateway of this machine has it
        try:
            is_ours = await kept.try_lease()
        except BaseException:
            os.close(lock)
            raise
        if not is_ours:
            os.close(lock)
            return
        keeper = BatchKeeper(
            kept,
            WorkFolder(self._folder / kept.id),
            self._notices,
            self._documents,
            self._contents,
            lines_max=settings.lines_max,
            files_kept_s=self._kept_s(),
            clock=self._clock,
        )
        self._projects[kept.id] = kept.project
        self._keepers[kept.id] = asyncio.get_running_loop().create_task(self._keep(keeper, kept.id, lock))

    async def _keep(self, keeper: BatchKeeper, batch: str, lock: int) -> None:
        try:
            while not await self._try_run(keeper, batch):
                await asyncio.sleep(AGAIN_S)
        finally:
            os.close(lock)
            self._keepers.pop(batch, None)
            self._projects.pop(batch, None)

    async def _try_run(self, keeper: BatchKeeper, batch: str) -> bool:
        """False: it failed while workers are at it, and keeps its place until it is run again."""
        try:
            await keeper.run()
            (self._folder / f"{batch}{LOCK}").unlink(missing_ok=True)
        except LeaseLost:
            _log.warning("batch_taken_over", batch=batch)
        except Exception as error:  # noqa: BLE001  # the root of a batch: it is begun again where it stood
            _log.error("batch_interrupted", batch=batch, exc_info=error)
            if keeper.is_worked_on:
                return False
            self._again_at_s[batch] = time.monotonic() + AGAIN_S
        return True


def _try_lock(path: Path) -> int | None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


def _holder(folder: Path) -> str:
    """The same after every start: what this machine has begun it goes on with at once."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / HOLDER
    try:
        with path.open("x") as file:
            file.write(secrets.token_hex(8))
    except FileExistsError:
        pass
    return path.read_text()
