"""A database of an older shape: opened, migrated, and everything in it is there, beside what is new."""

from pathlib import Path

from heterodyne.domain.history import HistoryQuery
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import RequestQuery, UsageQuery
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.ports.books import BookStore
from heterodyne.stores.postgres.books import PostgresBooks
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.books.days import DAY_COLUMNS, SUM_COLUMNS
from heterodyne.stores.sql.books.old_rows import COLUMNS
from heterodyne.stores.sql.schema.books_2 import BOOKS_2
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sql.schema.tenants_1 import TENANTS_1
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.old_usage_rows import insert, old_row
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture
from tests.support.usage_records import record

BEFORE = (TENANTS_1, BOOKS_2)
OLD = [record(number, reason="stalled" if number == 2 else "") for number in range(4)]


def statements(place: str) -> tuple[tuple[str, list[tuple[object, ...]]], ...]:
    """What the version before wrote: every column but the promise, and every sum but what was saved."""
    assert (COLUMNS[-1], SUM_COLUMNS[-1]) == ("promise", "saved_usd_micro")
    columns, days = SUM_COLUMNS[:-1], UsageTally(OLD).days
    sums = [(*key, *(getattr(day, column) for column in columns)) for key, day in days.items()]
    return (
        (insert("usage", COLUMNS[:-1], place), [old_row(record)[:-1] for record in OLD]),
        (insert("usage_daily", DAY_COLUMNS + columns, place), sums),
    )


async def check(store: BookStore) -> None:
    page = await store.requests(RequestQuery())
    assert page.records == tuple(reversed(OLD))
    assert {one.promise for one in page.records} == {""}
    assert [one.id for one in (await store.requests(RequestQuery(errors_only=True))).records] == ["req_0002"]
    assert list((await store.add([record(3), record(9, promise="kept")])).records) == [record(9, promise="kept")]
    (row,) = await store.usage(UsageQuery())
    assert (row.requests, row.errors) == (5, 1)
    at = record(9).at
    (series,) = (await store.history(HistoryQuery(since_at=at - 60, until_at=at + 60))).series
    assert sum(step.sums.requests for step in series.steps) == 1, "history begins with the migration"
    await check_together(store)


async def check_together(store: BookStore) -> None:
    """Rows of the version before, and blocks."""
    begun = SpoolPlace(segment="worker-0.18a.00000001", start=0, end=200)
    new = await store.add([record(0), record(1), record(20, replica="", reason="shed", status=503)], begun)
    assert [one.id for one in new.records] == ["req_0020"], "a segment that the version before had begun to collect"
    seen, after = [], None
    while True:
        page = await store.requests(RequestQuery(limit=1, after=after))
        seen += [one.id for one in page.records]
        if (after := page.next) is None:
            break
    assert seen == ["req_0020", "req_0009", "req_0003", "req_0002", "req_0001", "req_0000"]
    assert (await store.requests(RequestQuery(id="req_0002"))).records == (OLD[2],)
    refusals = await store.refusals(record(0).at, record(99).at)
    assert [(one.reason, one.requests) for one in refusals] == [("shed", 1), ("stalled", 1)]
    assert await store.forget(record(20).at, 5) == 5
    assert [one.id for one in (await store.requests(RequestQuery())).records] == ["req_0020"]
    (row,) = await store.usage(UsageQuery())
    assert row.requests == 6


async def test_an_sqlite_file_of_the_shape_before_is_migrated_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    old = await SqliteDatabase.open(path, BEFORE)
    for sql, rows in statements("?{}"):
        await old.write(lambda connection, sql=sql, rows=rows: connection.executemany(sql, rows).rowcount)
    await old.close()
    database = await SqliteDatabase.open(path, MIGRATIONS)
    await check(SqliteBooks(database))
    await database.close()


async def test_a_postgresql_of_the_shape_before_is_migrated_while_the_version_before_goes_on(
    postgres_url: str,  # noqa: F811
) -> None:
    old = await PostgresDatabase.open(postgres_url, BEFORE)
    database = await PostgresDatabase.open(postgres_url, MIGRATIONS)
    async with old.transaction() as connection:
        for sql, rows in statements("${}"):
            for row in rows:
                await connection.execute(sql, *row)
    await check(PostgresBooks(database))
    await database.close()
    await old.close()
