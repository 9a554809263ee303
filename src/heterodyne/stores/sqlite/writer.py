"""The one thread that writes: what waits is put into one transaction, and answered when it is on the disk."""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.stores.sqlite.connection import SqliteConnection
from heterodyne.stores.sqlite.file import transaction

WAITING_MAX = 4096
BATCH_MAX = 256

Work = Callable[[sqlite3.Connection], Any]


class PendingWrite(Struct, eq=False):
    """A piece of work, and who waits for it."""

    work: Work
    answer: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class SqliteWriter:
    """Takes work from one event loop, until it is closed."""

    def __init__(self, connection: SqliteConnection, where: str) -> None:
        self._connection = connection
        self._where = where
        self._loop = asyncio.get_running_loop()
        self._pending: queue.Queue[PendingWrite | None] = queue.Queue(WAITING_MAX)
        self._thread = threading.Thread(target=self._run, name="sqlite-writer", daemon=True)
        self._thread.start()

    def take(self, work: Work) -> asyncio.Future[Any]:
        """A place in the next batch; raises at once when too much waits."""
        write = PendingWrite(work, self._loop.create_future())
        try:
            self._pending.put_nowait(write)
        except queue.Full as error:
            raise StoreUnavailable(
                f"{WAITING_MAX} writes wait for {self._where} already: the disk does not keep up. Try again later."
            ) from error
        return write.answer

    def close(self, timeout_s: float) -> None:
        """Write what waits, then end. Blocks."""
        try:
            self._pending.put(None, timeout=timeout_s)
        except queue.Full as error:
            raise StoreUnavailable(f"{self._where} took no write within {timeout_s:g} s and was left open.") from error
        self._thread.join(timeout_s)

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._pending.get()]
            while len(batch) < BATCH_MAX and not self._pending.empty():
                batch.append(self._pending.get_nowait())
            is_open = None not in batch
            writes = [write for write in batch if write is not None and not write.answer.cancelled()]
            if not writes:
                continue
            try:
                self._write(writes)
            except Exception as error:  # noqa: BLE001  # the root of the thread: callers get the error, and it goes on
                self._connection.failed(error)
                for write in writes:
                    write.error = write.error or _unavailable(self._where, error)
            try:
                self._loop.call_soon_threadsafe(_settle, writes)
            except RuntimeError:
                break  # the loop was closed, and every caller went with it
        self._connection.close()

    def _write(self, writes: list[PendingWrite]) -> None:
        """All of them or none; an error that ends the transaction is raised."""
        connection = self._connection.get()
        with transaction(connection, "IMMEDIATE"):
            for write in writes:
                self._write_one(connection, write)

    def _write_one(self, connection: sqlite3.Connection, write: PendingWrite) -> None:
        """What it did wrong is undone alone, unless SQLite has undone everything: then the savepoint is gone."""
        connection.execute("SAVEPOINT one")
        try:
            write.result = write.work(connection)
        except Exception as error:  # noqa: BLE001  # the root of a caller's work: it gets the error
            is_theirs = not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.IntegrityError)
            write.error = error if is_theirs else _unavailable(self._where, error)
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")


def _unavailable(where: str, error: Exception) -> StoreUnavailable:
    """With its cause, as a `raise … from` would have it."""
    answer = StoreUnavailable(f"{where} did not take the write: {error}")
    answer.__cause__ = error
    return answer


def _settle(writes: list[PendingWrite]) -> None:
    for write in writes:
        if write.answer.done():  # the caller has left
            continue
        if write.error is not None:
            write.answer.set_exception(write.error)
        else:
            write.answer.set_result(write.result)
