"""Documents in a SQLite file."""

from functools import partial
from typing import TypeVar

from heterodyne.stores.sql.documents.sql_documents import SqlDocuments
from heterodyne.stores.sql.script import Script, run_on_sqlite
from heterodyne.stores.sqlite.database import SqliteDatabase

T = TypeVar("T")


class SqliteDocuments(SqlDocuments):
    """Does not own the database."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def _read(self, script: Script[T]) -> T:
        return await self._database.read(partial(run_on_sqlite, script=script))

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(partial(run_on_sqlite, script=script))
