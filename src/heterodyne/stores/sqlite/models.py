"""Versions and artifacts of models in a SQLite file."""

from heterodyne.stores.sql.models.sql_models import SqlModels
from heterodyne.stores.sqlite.scripts import SqliteScripts


class SqliteModels(SqliteScripts, SqlModels):
    """Does not own the database."""
