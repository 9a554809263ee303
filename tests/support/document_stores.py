"""Documents in SQLite and in a real PostgreSQL."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from heterodyne.ports.document_store import DocumentStore
from heterodyne.stores.open_store import documents_in
from heterodyne.stores.postgres.database import PostgresDatabase
from heterodyne.stores.sqlite.database import SqliteDatabase

Opened = Callable[[], AbstractAsyncContextManager[DocumentStore]]


DATABASES: Final = ("sqlite", "postgres")  # what a fixture is parametrised with


def documents_of(request: pytest.FixtureRequest, folder: Path) -> Opened:
    """The same store each time; of PostgreSQL, the module has the fixture `postgres_url`."""

    @asynccontextmanager
    async def store() -> AsyncIterator[DocumentStore]:
        database: SqliteDatabase | PostgresDatabase
        if request.param == "sqlite":
            database = await SqliteDatabase.open(folder / "documents.sqlite")
        else:
            database = await PostgresDatabase.open(request.getfixturevalue("postgres_url"))
        try:
            yield documents_in(database)
        finally:
            await database.close()

    return store
