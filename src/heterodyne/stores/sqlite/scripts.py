"""Runs scripts in a SQLite file, for whatever is kept there."""

from functools import partial
from typing import TypeVar

from heterodyne.stores.sql.script import Script, run_on_sqlite
from heterodyne.stores.sqlite.database import SqliteDatabase

T = TypeVar("T")


class SqliteScripts:
    """Does not own the database."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def _read(self, script: Script[T]) -> T:
        return await self._database.read(partial(run_on_sqlite, script=script))

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(partial(run_on_sqlite, script=script))
