"""Documents in PostgreSQL, shared by several gateways."""

from heterodyne.stores.postgres.scripts import PostgresScripts
from heterodyne.stores.sql.documents.sql_documents import SqlDocuments


class PostgresDocuments(PostgresScripts, SqlDocuments):
    """Does not own the database."""
