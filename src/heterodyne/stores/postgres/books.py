"""The books in PostgreSQL, where several gateways add to the same days."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.books.sql_books import SqlBooks
from heterodyne.stores.sql.script import Script, run_on_postgres

T = TypeVar("T")

ADD_TIMEOUT_S = 60.0  # of a whole batch; each statement has its own
READ_TIMEOUT_S = 15.0


class PostgresBooks(SqlBooks):
    """Does not own the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__()
        self._database = database
        self._adding = asyncio.Lock()  # rows of minutes are read and written back, and they are this one's alone

    async def add(self, records: Sequence[UsageRecord], place: SpoolPlace | None = None) -> UsageTally:
        """A segment that two gateways read at once is taken from the first that commits; the other waits for that."""
        try:
            async with deadline(ADD_TIMEOUT_S), self._adding:
                return await super().add(records, place)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._database.where} took no records within {ADD_TIMEOUT_S:g} s.") from error

    async def _read(self, script: Script[T]) -> T:
        try:
            async with deadline(READ_TIMEOUT_S), self._database.transaction(is_reading=True) as connection:
                return await run_on_postgres(connection, script)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._database.where} was not read within {READ_TIMEOUT_S:g} s.") from error

    async def _write(self, script: Script[T]) -> T:
        async with self._database.transaction() as connection:
            return await run_on_postgres(connection, script)
