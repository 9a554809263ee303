"""The books in an open database."""

from typing import TYPE_CHECKING

from heterodyne.ports.books import BookStore
from heterodyne.stores.sqlite import SqliteDatabase
from heterodyne.stores.sqlite_books import SqliteBooks

if TYPE_CHECKING:
    from heterodyne.stores.postgres import PostgresDatabase


def books_in(database: "SqliteDatabase | PostgresDatabase") -> BookStore:
    """Whoever opened the database closes it."""
    if isinstance(database, SqliteDatabase):
        return SqliteBooks(database)
    from heterodyne.stores.postgres_books import PostgresBooks  # noqa: PLC0415  # an extra

    return PostgresBooks(database)
