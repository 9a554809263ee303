"""One SQLite file: one writer thread that commits many writes at once, and readers beside it."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.stores.sql.migration import Migration
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sqlite.connection import SqliteConnection
from heterodyne.stores.sqlite.file import connect, prepare, transaction
from heterodyne.stores.sqlite.writer import SqliteWriter

READERS = 2
READS_MAX = 256  # at work and waiting
TIMEOUT_S = 15.0  # longer than the lock is waited for
OPEN_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 30.0
STEPS_BETWEEN_LOOKS = 10_000  # of SQLite's machine: well under a millisecond

T = TypeVar("T")


class SqliteDatabase:
    """One file in WAL mode. All of it belongs to the event loop that opened it."""

    def __init__(self, path: Path, writer: SqliteConnection, readers: list[SqliteConnection]) -> None:
        self.path = path
        self._writer = SqliteWriter(writer, str(path))
        self._idle = readers
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="sqlite-reader")
        self._reads = 0
        self._is_open = True

    @classmethod
    async def open(cls, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS) -> Self:
        """Create or migrate the file; raises StoreInvalid for a file of another program or a newer version."""
        async with deadline(OPEN_TIMEOUT_S):
            connections = await asyncio.to_thread(_opened, path, migrations)
        return cls(path, connections[0], connections[1:])

    async def write(self, work: Callable[[sqlite3.Connection], T], *, timeout_s: float = TIMEOUT_S) -> T:
        """Do `work` in the next batch, and return once it is on the disk. If it raises, it alone is undone.

        It neither begins nor ends transactions. A caller that stops waiting does not know whether it was done.
        """
        self._check_open()
        try:
            async with deadline(timeout_s):
                result: T = await self._writer.take(work)
                return result
        except TimeoutError as error:
            raise StoreUnavailable(f"{self.path} took no write within {timeout_s:g} s.") from error

    async def read(self, work: Callable[[sqlite3.Connection], T], *, timeout_s: float = TIMEOUT_S) -> T:
        """Do `work` on one view of the file, that of the last commit, while others write."""
        self._check_open()
        if self._reads >= READS_MAX:
            raise StoreUnavailable(f"{READS_MAX} reads of {self.path} are under way already. Try again later.")
        self._reads += 1
        abandoned = threading.Event()
        reading = asyncio.get_running_loop().run_in_executor(self._threads, self._read, work, abandoned)
        reading.add_done_callback(self._count_off)
        try:
            async with deadline(timeout_s):
                return await asyncio.shield(reading)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self.path} was not read within {timeout_s:g} s.") from error
        except sqlite3.Error as error:  # locked, damaged, no database any more, a disk that fails
            raise StoreUnavailable(f"{self.path} cannot be read: {error}.") from error
        finally:
            abandoned.set()

    async def close(self) -> None:
        """Write what waits, then close."""
        if not self._is_open:
            return
        self._is_open = False
        await asyncio.to_thread(self._close)

    def _check_open(self) -> None:
        if not self._is_open:
            raise StoreUnavailable(f"{self.path} is closed.")

    def _read(self, work: Callable[[sqlite3.Connection], T], abandoned: threading.Event) -> T:
        reader = self._idle.pop()  # there are as many as threads
        try:
            connection = reader.get()
            connection.set_progress_handler(abandoned.is_set, STEPS_BETWEEN_LOOKS)  # no caller waits: it is broken off
            with transaction(connection, "DEFERRED"):
                return work(connection)
        except sqlite3.Error as error:
            reader.failed(error)
            raise
        finally:
            self._idle.append(reader)

    def _count_off(self, reading: asyncio.Future[Any]) -> None:
        self._reads -= 1
        if not reading.cancelled():
            reading.exception()  # the caller has it, or has left

    def _close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for reader in self._idle:
            reader.close()
        self._writer.close(CLOSE_TIMEOUT_S)


def _opened(path: Path, migrations: tuple[Migration, ...]) -> list[SqliteConnection]:
    """The writer's and those of the readers. Blocks."""
    prepare(path, migrations).close()
    return [
        SqliteConnection(path, partial(prepare, path, migrations, may_create=False)),
        *(SqliteConnection(path, partial(connect, path, is_reader=True)) for _ in range(READERS)),
    ]
