"""Rollouts: where each stands, at most one of a model that runs."""

from heterodyne.stores.sql.migration import Migration

_TABLES = (
    """CREATE TABLE rollouts (
        id TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        revision INTEGER NOT NULL,
        began_at {real} NOT NULL,
        is_ended INTEGER NOT NULL,
        document TEXT NOT NULL
    ){strict}""",
    "CREATE UNIQUE INDEX rollouts_running ON rollouts (model) WHERE is_ended = 0",
    "CREATE INDEX rollouts_by_model ON rollouts (model, began_at)",
)

ROLLOUTS_7 = Migration(
    number=7,
    name="rollouts",
    sqlite=tuple(table.format(real="REAL", strict=" STRICT") for table in _TABLES),
    postgres=tuple(table.format(real="DOUBLE PRECISION", strict="") for table in _TABLES),
)
