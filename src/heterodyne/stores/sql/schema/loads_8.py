"""How long it took to bring artifacts to a machine: the latest time from each tier."""

from heterodyne.stores.sql.migration import Migration

_TABLES = (
    """CREATE TABLE artifact_loads (
        digest TEXT NOT NULL REFERENCES artifacts (digest),
        tier TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (digest, tier)
    ){strict}""",
)

LOADS_8 = Migration(
    number=8,
    name="loads",
    sqlite=tuple(table.format(strict=" STRICT") for table in _TABLES),
    postgres=tuple(table.format(strict="") for table in _TABLES),
)
