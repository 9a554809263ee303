"""The books in SQLite."""

import sqlite3
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.books import Books
from heterodyne.stores.books_rows import COLUMNS, DAY_COLUMNS, SUM_COLUMNS, daily_rows, record_row, unique
from heterodyne.stores.script import Script, run_on_sqlite
from heterodyne.stores.sqlite import SqliteDatabase

T = TypeVar("T")

_INSERT = f"INSERT INTO usage ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608  # ours
_ADD = (
    f"INSERT INTO usage_daily ({', '.join(DAY_COLUMNS + SUM_COLUMNS)}) "  # noqa: S608  # columns of ours
    f"VALUES ({', '.join('?' * len(DAY_COLUMNS + SUM_COLUMNS))}) ON CONFLICT ({', '.join(DAY_COLUMNS)}) "
    f"DO UPDATE SET {', '.join(f'{column} = {column} + excluded.{column}' for column in SUM_COLUMNS)}"
)


class SqliteBooks(Books):
    """Does not own the database."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def add(self, records: Sequence[UsageRecord]) -> int:
        by_id = unique(records)
        return await self._database.write(lambda connection: add_records(connection, by_id))

    async def _read(self, script: Script[T]) -> T:
        return await self._database.read(lambda connection: run_on_sqlite(connection, script))

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(lambda connection: run_on_sqlite(connection, script))


def add_records(connection: sqlite3.Connection, by_id: dict[str, UsageRecord]) -> int:
    """Nobody else writes between the two halves: the transaction has the lock from its beginning."""
    ids = msgspec.json.encode(list(by_id)).decode()
    known = {
        row[0]
        for row in connection.execute("SELECT id FROM usage WHERE id IN (SELECT value FROM json_each(?))", (ids,))
    }
    new = [record for request_id, record in by_id.items() if request_id not in known]
    connection.executemany(_INSERT, map(record_row, new))
    connection.executemany(_ADD, daily_rows(new))
    return len(new)
