"""Runs scripts in PostgreSQL, for whatever is kept there."""

from typing import TypeVar

from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.script import Script, run_on_postgres

T = TypeVar("T")


class PostgresScripts:
    """Does not own the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def _read(self, script: Script[T]) -> T:
        async with self._database.transaction(is_reading=True) as connection:
            return await run_on_postgres(connection, script)

    async def _write(self, script: Script[T]) -> T:
        async with self._database.transaction() as connection:
            return await run_on_postgres(connection, script)
