"""The books in an open database."""

from typing import TYPE_CHECKING

from heterodyne.ports.books import BookStore
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase

if TYPE_CHECKING:
    from heterodyne.stores.postgres.database import PostgresDatabase


def books_in(database: "SqliteDatabase | PostgresDatabase") -> BookStore:
    """Whoever opened the database closes it."""
    if isinstance(database, SqliteDatabase):
        return SqliteBooks(database)
    from heterodyne.stores.postgres.books import PostgresBooks  # noqa: PLC0415  # an extra

    return PostgresBooks(database)
