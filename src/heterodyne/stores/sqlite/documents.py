"""Documents in a SQLite file."""

from heterodyne.stores.sql.documents.sql_documents import SqlDocuments
from heterodyne.stores.sqlite.scripts import SqliteScripts


class SqliteDocuments(SqliteScripts, SqlDocuments):
    """Does not own the database."""
