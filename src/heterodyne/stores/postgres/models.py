"""Versions and artifacts of models in PostgreSQL, shared by several gateways."""

from heterodyne.stores.postgres.scripts import PostgresScripts
from heterodyne.stores.sql.models.sql_models import SqlModels


class PostgresModels(PostgresScripts, SqlModels):
    """Does not own the database."""
