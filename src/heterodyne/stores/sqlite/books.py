"""The books in SQLite."""

import threading
from typing import TypeVar

from heterodyne.stores.sql.books.sql_books import SqlBooks
from heterodyne.stores.sql.script import Script, run_on_sqlite
from heterodyne.stores.sqlite.database import SqliteDatabase

T = TypeVar("T")


class SqliteBooks(SqlBooks):
    """Does not own the database."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__()
        self._database = database

    async def _read(self, script: Script[T]) -> T:
        abandoned = threading.Event()
        try:
            return await self._database.read(lambda connection: run_on_sqlite(connection, script, abandoned.is_set))
        finally:
            abandoned.set()

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(lambda connection: run_on_sqlite(connection, script))
