"""Opens connections to one SQLite file: ours, in WAL mode, and of the shape this version works with."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.stores.sql.migration import Migration, missing

APPLICATION_ID = 0x48444E31  # "HDN1", in the file's header: the mark of our file among those of other programs
VERSION_MIN = (3, 37, 0)  # strict tables
BUSY_TIMEOUT_S = 10.0  # for the lock, while another process writes or migrates
CACHE_KIB = 8192


def prepare(path: Path, migrations: tuple[Migration, ...], *, may_create: bool = True) -> sqlite3.Connection:
    """The writer's connection to a file that is there, ours and of the newest shape.

    Where it may not be created an empty file is refused as well: it is what is left of one that was ours.
    """
    if sqlite3.sqlite_version_info < VERSION_MIN:
        raise StoreInvalid(f"this Python carries SQLite {sqlite3.sqlite_version}; 3.37 or newer is needed.")
    with translated(path):
        if may_create:
            _create(path)
        connection = connect(path)
        try:
            if may_create:
                _claim(connection, path)
            elif _number(connection, "application_id") != APPLICATION_ID:
                raise StoreInvalid(f"{path} is not the database that was opened. Restore it, or start again.")
            _use_wal(connection, path)
            _migrate(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path, *, is_reader: bool = False) -> sqlite3.Connection:
    """One connection, for one thread at a time; transactions are begun and ended by hand."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in (
            "synchronous = FULL",  # one fsync for a whole batch; what was answered survives a power cut
            "foreign_keys = ON",
            "trusted_schema = OFF",
            f"cache_size = -{CACHE_KIB}",
            *(("query_only = ON",) if is_reader else ()),
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:  # a file that is not a database says so here
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, how: str) -> Iterator[None]:
    """Begin and commit; an error rolls back."""
    connection.execute(f"BEGIN {how}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors end it by themselves
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What goes wrong while a file is opened, in our words."""
    try:
        yield
    except OSError as error:
        raise StoreInvalid(f"cannot open the database {path}: {error.strerror or error}.") from error
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise StoreUnavailable(
                f"the database {path} was locked for {BUSY_TIMEOUT_S:g} s by another process."
            ) from error
        raise StoreInvalid(f"cannot open the database {path}: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise StoreInvalid(
            f"{path} is not a database of Heterodyne: {error}. Name another file in `stores.url`."
        ) from error


def _create(path: Path) -> None:
    """Ours alone to read: it holds who may ask, and what they asked for."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _claim(connection: sqlite3.Connection, path: Path) -> None:
    """An empty file becomes ours, a file with another program's tables never does."""
    if _number(connection, "application_id") == APPLICATION_ID:
        return
    with transaction(connection, "IMMEDIATE"):
        found = _number(connection, "application_id")  # again: another process may have claimed it meanwhile
        if found == APPLICATION_ID:
            return
        if found or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise StoreInvalid(f"{path} belongs to another program. Name another file in `stores.url`.")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Readers go on while a batch is written. The switch itself does not wait for locks, so it is asked again."""
    until_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.01)
            continue
        if mode != "wal":
            raise StoreInvalid(f"{path} lies where SQLite cannot share memory ({mode}): use a local disk.")
        return


def _migrate(connection: sqlite3.Connection, path: Path, migrations: tuple[Migration, ...]) -> None:
    """Forward, in one transaction: others read and write the shape before until it is there."""
    if not missing(migrations, _applied(connection), str(path)):
        return
    with transaction(connection, "IMMEDIATE"):
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT"
        )
        for migration in missing(migrations, _applied(connection), str(path)):
            for statement in migration.sqlite:
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations (number, name) VALUES (?, ?)", (migration.number, migration.name)
            )


def _applied(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchone():
        return []
    return connection.execute("SELECT number, name FROM migrations").fetchall()


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (number,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    assert isinstance(number, int)
    return number
