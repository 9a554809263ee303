"""Deletes the bytes of files that no document knows: deleted ones, expired ones, and what a dead worker left."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from heterodyne.batches.file_object import is_file_id
from heterodyne.ports.document_store import DocumentStore
from heterodyne.ports.file_contents import FileContents
from heterodyne.telemetry.loops import run_periodically

INTERVAL_S = 600.0
KEPT_S = 3600.0  # a document comes after the bytes that it tells of, and an upload takes a while
AT_ONCE = 500  # asked for in one transaction


async def forget_files(
    store: DocumentStore, contents: FileContents, uploads: Path, clock: Callable[[], float] = time.time
) -> None:
    """Until cancelled; `uploads` is where workers write what is not whole yet."""

    async def forget() -> None:
        await asyncio.to_thread(_forget_uploads, uploads, clock() - KEPT_S)
        await forget_unknown(store, contents, clock())

    await run_periodically("files", forget, INTERVAL_S)


async def forget_unknown(store: DocumentStore, contents: FileContents, now: float) -> int:
    """All that no document knows; how many."""
    old = [one.id for one in await contents.all() if one.written_at < now - KEPT_S and is_file_id(one.id)]
    total = 0
    for start in range(0, len(old), AT_ONCE):
        some = old[start : start + AT_ONCE]
        known = await store.known(some, now)
        for id in some:
            if id not in known:
                await contents.delete(id)
                total += 1
    return total


def _forget_uploads(folder: Path, before: float) -> None:
    """One that is still being written to was written to within its time limit."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # it was taken meanwhile
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    Path(entry.path).unlink()
