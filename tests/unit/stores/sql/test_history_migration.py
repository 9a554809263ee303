"""A database of the shape before history: opened, migrated, and everything in it still there."""

from pathlib import Path

from heterodyne.domain.history import HistoryQuery
from heterodyne.domain.usage import RequestQuery, UsageQuery
from heterodyne.ports.books import BookStore
from heterodyne.stores.postgres.books import PostgresBooks
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.books.rows import COLUMNS, DAY_COLUMNS, SUM_COLUMNS, Ledger, ledger
from heterodyne.stores.sql.schema.books_2 import BOOKS_2
from heterodyne.stores.sql.schema.history_3 import HISTORY_3
from heterodyne.stores.sql.schema.tenants_1 import TENANTS_1
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture
from tests.support.usage_records import record

BEFORE = (TENANTS_1, BOOKS_2)
AFTER = (*BEFORE, HISTORY_3)
OLD = [record(number, reason="stalled" if number == 2 else "") for number in range(4)]


def statements(places: str) -> tuple[tuple[str, list[tuple[object, ...]]], ...]:
    """What the version before wrote: every column but the promise."""
    book: Ledger = ledger(OLD)
    columns = COLUMNS[:-1]
    assert COLUMNS[-1] == "promise"

    def insert(table: str, names: tuple[str, ...]) -> str:
        put = ", ".join(places.format(number) for number in range(1, len(names) + 1))
        return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({put})"  # ours

    return (
        (insert("usage", columns), [row[:-1] for row in book.rows]),
        (insert("usage_daily", DAY_COLUMNS + SUM_COLUMNS), book.days),
    )


async def check(store: BookStore) -> None:
    page = await store.requests(RequestQuery())
    assert page.records == tuple(reversed(OLD))
    assert {one.promise for one in page.records} == {""}
    assert [one.id for one in (await store.requests(RequestQuery(errors_only=True))).records] == ["req_0002"]
    assert list(await store.add([record(3), record(9, promise="kept")])) == [record(9, promise="kept")]
    (row,) = await store.usage(UsageQuery())
    assert (row.requests, row.errors) == (5, 1)
    at = record(9).at
    (series,) = (await store.history(HistoryQuery(since_at=at - 60, until_at=at + 60))).series
    assert sum(step.sums.requests for step in series.steps) == 1, "history begins with the migration"


async def test_an_sqlite_file_of_the_shape_before_is_migrated_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    old = await SqliteDatabase.open(path, BEFORE)
    for sql, rows in statements("?{}"):
        await old.write(lambda connection, sql=sql, rows=rows: connection.executemany(sql, rows).rowcount)
    await old.close()
    database = await SqliteDatabase.open(path, AFTER)
    await check(SqliteBooks(database))
    await database.close()


async def test_a_postgresql_of_the_shape_before_is_migrated_while_the_version_before_goes_on(
    postgres_url: str,  # noqa: F811
) -> None:
    old = await PostgresDatabase.open(postgres_url, BEFORE)
    database = await PostgresDatabase.open(postgres_url, AFTER)
    async with old.transaction() as connection:
        for sql, rows in statements("${}"):
            for row in rows:
                await connection.execute(sql, *(_as_postgres(sql, row)))
    await check(PostgresBooks(database))
    await database.close()
    await old.close()


def _as_postgres(sql: str, row: tuple[object, ...]) -> list[object]:
    """Truths are 0 and 1 in a ledger."""
    names = sql[sql.index("(") + 1 : sql.index(")")].split(", ")
    return [bool(value) if name.startswith("is_") else value for name, value in zip(names, row, strict=True)]
