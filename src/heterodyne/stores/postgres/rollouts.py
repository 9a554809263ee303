"""Rollouts in PostgreSQL, shared by several gateways."""

from heterodyne.stores.postgres.scripts import PostgresScripts
from heterodyne.stores.sql.rollouts.sql_rollouts import SqlRollouts


class PostgresRollouts(PostgresScripts, SqlRollouts):
    """Does not own the database."""
