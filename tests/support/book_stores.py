"""Empty stores of both kinds, for suites that ask every one the same."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from heterodyne.ports.books import BookStore
from heterodyne.stores.postgres.books import PostgresBooks
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from tests.support.postgres_server import postgres_url  # noqa: F401  # a fixture that modules import with this one

Opened = Callable[[], AbstractAsyncContextManager[BookStore]]


@pytest.fixture(name="opened", params=["sqlite", "postgres"])
def book_stores(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """A store, as a context; whoever opens it again finds what was written, under another source."""
    if request.param == "sqlite":

        @asynccontextmanager
        async def sqlite() -> AsyncIterator[BookStore]:
            database = await SqliteDatabase.open(tmp_path / "books.sqlite", MIGRATIONS)
            yield SqliteBooks(database)
            await database.close()

        return sqlite
    url = request.getfixturevalue("postgres_url")

    @asynccontextmanager
    async def postgres() -> AsyncIterator[BookStore]:
        database = await PostgresDatabase.open(url, MIGRATIONS)
        yield PostgresBooks(database)
        await database.close()

    return postgres
