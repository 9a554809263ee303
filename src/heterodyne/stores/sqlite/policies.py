"""What guards, caches and cascades did, in a SQLite file."""

from heterodyne.stores.sql.policies.sql_policies import SqlPolicies
from heterodyne.stores.sqlite.scripts import SqliteScripts


class SqlitePolicies(SqliteScripts, SqlPolicies):
    """Does not own the database."""
