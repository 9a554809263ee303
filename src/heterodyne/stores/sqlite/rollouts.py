"""Rollouts in a SQLite file."""

from heterodyne.stores.sql.rollouts.sql_rollouts import SqlRollouts
from heterodyne.stores.sqlite.scripts import SqliteScripts


class SqliteRollouts(SqliteScripts, SqlRollouts):
    """Does not own the database."""
