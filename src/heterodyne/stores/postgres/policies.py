"""What guards, caches and cascades did, in PostgreSQL, shared by several gateways."""

from heterodyne.stores.postgres.scripts import PostgresScripts
from heterodyne.stores.sql.policies.sql_policies import SqlPolicies


class PostgresPolicies(PostgresScripts, SqlPolicies):
    """Does not own the database."""
