"""Statements with logic between them, written once and run on either database.

A script is a generator: it yields a statement, gets its rows back, and returns its result. Where it waits is left to
its runner, so the same rules hold in SQLite's thread and on asyncpg's connections.
"""

import sqlite3
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]


class Statement(NamedTuple):
    """SQL that both databases understand, with the places of its values as $1, $2, …"""

    sql: str
    values: tuple[object, ...] = ()


Script = Generator[Statement, list[Row], T]


def run_on_sqlite(
    connection: sqlite3.Connection, script: Script[T], is_abandoned: Callable[[], bool] = lambda: False
) -> T:
    """In the thread of the connection, inside its transaction, and no further than somebody waits for it."""
    rows: list[Row] = []
    try:
        statement = next(script)
        while True:
            if is_abandoned():
                raise sqlite3.OperationalError("interrupted: no caller waits any more")
            # SQLite writes numbered places as ?1; no statement of ours has a dollar anywhere else.
            rows = connection.execute(statement.sql.replace("$", "?"), statement.values).fetchall()
            statement = script.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        script.close()


async def run_on_postgres(connection: Any, script: Script[T]) -> T:
    """On a connection of asyncpg, inside its transaction."""
    try:
        statement = next(script)
        while True:
            records = await connection.fetch(statement.sql, *statement.values)
            statement = script.send([tuple(record) for record in records])
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        script.close()
