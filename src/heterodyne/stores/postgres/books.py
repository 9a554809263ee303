"""The books in PostgreSQL, where several gateways add to the same days."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.usage import UsageRecord
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.books.minutes import add_minutes
from heterodyne.stores.sql.books.rows import COLUMNS, DAY_COLUMNS, SUM_COLUMNS, ledger, unique
from heterodyne.stores.sql.books.sql_books import SqlBooks
from heterodyne.stores.sql.script import Row, Script, run_on_postgres

T = TypeVar("T")

ADD_TIMEOUT_S = 60.0  # of a whole batch; each statement has its own

_FLOATS = frozenset({"at", "queue_ms", "ttft_ms", "itl_ms", "total_ms", "predicted_ttft_ms", "predicted_itl_ms"})
_NUMBERS = frozenset({"status", "retries", "continuations", "prompt_tokens", "cached_tokens", "completion_tokens"}) | {
    *("reasoning_tokens", "usd_micro", "replica_us"),
    *SUM_COLUMNS,
}


class PostgresBooks(SqlBooks):
    """Does not own the database."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__()
        self._database = database
        self._adding = asyncio.Lock()  # rows of minutes are read and written back, and they are this one's alone

    async def add(self, records: Sequence[UsageRecord]) -> list[UsageRecord]:
        """An id that two gateways bring at once is taken from the first that commits; the other waits for that."""
        by_id = unique(records)
        if not by_id:
            return []
        try:
            async with deadline(ADD_TIMEOUT_S), self._adding:
                return await self._add(by_id)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._database.where} took no records within {ADD_TIMEOUT_S:g} s.") from error

    async def _add(self, by_id: dict[str, UsageRecord]) -> list[UsageRecord]:
        rows, days = ledger(by_id.values())
        fresh = list(by_id.values())
        async with self._database.transaction() as connection:
            new = await connection.fetch(_INSERT, *_arrays(COLUMNS, rows))
            if len(new) < len(rows):
                ids = {row["id"] for row in new}
                fresh = [record for record in fresh if record.id in ids]
                days = ledger(fresh).days
            if days:
                await connection.execute(_ADD, *_arrays(DAY_COLUMNS + SUM_COLUMNS, days))
            await run_on_postgres(connection, add_minutes(self._source, fresh))
        return fresh

    async def _read(self, script: Script[T]) -> T:
        async with self._database.transaction(is_reading=True) as connection:
            return await run_on_postgres(connection, script)

    async def _write(self, script: Script[T]) -> T:
        async with self._database.transaction() as connection:
            return await run_on_postgres(connection, script)


def _arrays(columns: Sequence[str], rows: list[Row]) -> list[list[object]]:
    """Column by column, as `unnest` takes them."""
    return [
        [bool(value) for value in values] if _type(column) == "boolean" else list(values)
        for column, values in zip(columns, zip(*rows, strict=True), strict=True)
    ]


def _unnested(columns: Sequence[str]) -> str:
    places = ", ".join(f"${number}::{_type(column)}[]" for number, column in enumerate(columns, 1))
    return f"SELECT * FROM unnest({places})"  # noqa: S608  # places of values


def _type(column: str) -> str:
    if column.startswith("is_"):
        return "boolean"
    if column in _FLOATS:
        return "double precision"
    return "bigint" if column in _NUMBERS else "text"


_INSERT = f"INSERT INTO usage ({', '.join(COLUMNS)}) {_unnested(COLUMNS)} ON CONFLICT (id) DO NOTHING RETURNING id"
_ADD = (
    f"INSERT INTO usage_daily ({', '.join(DAY_COLUMNS + SUM_COLUMNS)}) {_unnested(DAY_COLUMNS + SUM_COLUMNS)} "
    f"ON CONFLICT ({', '.join(DAY_COLUMNS)}) "
    f"DO UPDATE SET {', '.join(f'{column} = usage_daily.{column} + excluded.{column}' for column in SUM_COLUMNS)}"
)
