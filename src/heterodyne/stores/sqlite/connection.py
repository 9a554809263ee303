"""One connection to a SQLite file that is opened again when it broke, or when another file has taken the file's place.

A connection keeps the file that it was opened with: what is written to one that was deleted is lost, and
one that was restored would never be read.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path

PRIMARY = 0xFF  # the bits of an error's code that say its kind
BROKEN = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB}

Mark = tuple[int, int]  # a file as distinct from another of its name


class SqliteConnection:
    """For one thread at a time."""

    def __init__(self, path: Path, open: Callable[[], sqlite3.Connection]) -> None:
        """Opened at once; `open` is asked again whenever it has to be."""
        self._path = path
        self._open = open
        self._mark = _mark(path)
        self._connection: sqlite3.Connection | None = open()

    def get(self) -> sqlite3.Connection:
        """Open, and to the file that has the name now; raises sqlite3.Error or StoreInvalid where there is none."""
        mark = _mark(self._path)
        if mark != self._mark:
            self.close()
        if self._connection is None:
            self._connection = self._open()
            self._mark = mark
        return self._connection

    def failed(self, error: BaseException) -> None:
        """Its user met this error: of a file that is damaged nothing in memory is to be trusted either."""
        if getattr(error, "sqlite_errorcode", 0) & PRIMARY in BROKEN:
            self.close()

    def close(self) -> None:
        """Until it is asked for again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _mark(path: Path) -> Mark:
    try:
        stat = path.stat()
    except OSError as error:
        raise sqlite3.OperationalError(f"the file is gone ({error.strerror})") from error
    return stat.st_dev, stat.st_ino
