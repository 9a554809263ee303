"""The books in SQLite."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.sql.books.minutes import add_minutes
from heterodyne.stores.sql.books.rows import COLUMNS, DAY_COLUMNS, SUM_COLUMNS, ledger, unique
from heterodyne.stores.sql.books.sql_books import SqlBooks
from heterodyne.stores.sql.script import Script, run_on_sqlite
from heterodyne.stores.sqlite.database import SqliteDatabase

T = TypeVar("T")

ROWS_AT_ONCE = 50  # in one statement, which is cheaper by a sixth; 32766 places are the most SQLite takes

_PLACES = f"({', '.join('?' * len(COLUMNS))})"
_INSERT = f"INSERT INTO usage ({', '.join(COLUMNS)}) VALUES {_PLACES}"  # noqa: S608  # columns of ours
_INSERT_MANY = _INSERT + f", {_PLACES}" * (ROWS_AT_ONCE - 1)
_ADD = (
    f"INSERT INTO usage_daily ({', '.join(DAY_COLUMNS + SUM_COLUMNS)}) "  # noqa: S608  # columns of ours
    f"VALUES ({', '.join('?' * len(DAY_COLUMNS + SUM_COLUMNS))}) ON CONFLICT ({', '.join(DAY_COLUMNS)}) "
    f"DO UPDATE SET {', '.join(f'{column} = {column} + excluded.{column}' for column in SUM_COLUMNS)}"
)


class SqliteBooks(SqlBooks):
    """Does not own the database."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__()
        self._database = database

    async def add(self, records: Sequence[UsageRecord]) -> list[UsageRecord]:
        by_id = unique(records)
        return await self._database.write(lambda connection: add_records(connection, by_id, self._source))

    async def _read(self, script: Script[T]) -> T:
        return await self._database.read(lambda connection: run_on_sqlite(connection, script))

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(lambda connection: run_on_sqlite(connection, script))


def add_records(connection: sqlite3.Connection, by_id: dict[str, UsageRecord], source: str) -> list[UsageRecord]:
    """Records are taken for new, as nearly all are; where one is not, what was done is undone and they are compared.

    No other writer comes in between: the transaction has the lock from its beginning.
    """
    connection.execute("SAVEPOINT records")
    fresh = list(by_id.values())
    try:
        _insert(connection, fresh)
    except sqlite3.IntegrityError:
        connection.execute("ROLLBACK TO records")
        known = _known(connection, by_id)
        fresh = [record for request_id, record in by_id.items() if request_id not in known]
        _insert(connection, fresh)
    run_on_sqlite(connection, add_minutes(source, fresh))
    connection.execute("RELEASE records")
    return fresh


def _insert(connection: sqlite3.Connection, records: Iterable[UsageRecord]) -> None:
    rows, days = ledger(records)
    rest = len(rows) - len(rows) % ROWS_AT_ONCE
    together = (list(chain.from_iterable(rows[start : start + ROWS_AT_ONCE])) for start in range(0, rest, ROWS_AT_ONCE))
    connection.executemany(_INSERT_MANY, together)
    connection.executemany(_INSERT, rows[rest:])
    connection.executemany(_ADD, days)


def _known(connection: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    listed = msgspec.json.encode(list(ids)).decode()
    rows = connection.execute("SELECT id FROM usage WHERE id IN (SELECT value FROM json_each(?))", (listed,))
    return {request_id for (request_id,) in rows}
