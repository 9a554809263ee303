"""Versions of models, their artifacts, and who vouches for them. What they say of themselves is JSON."""

from heterodyne.stores.sql.migration import Migration

_TABLES = (
    """CREATE TABLE model_versions (
        model TEXT NOT NULL,
        version TEXT NOT NULL,
        created_at {real} NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (model, version)
    ){strict}""",
    """CREATE TABLE artifacts (
        digest TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        version TEXT NOT NULL,
        created_at {real} NOT NULL,
        document TEXT NOT NULL,
        FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
    ){strict}""",
    """CREATE TABLE artifact_signatures (
        digest TEXT NOT NULL REFERENCES artifacts (digest),
        key_id TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (digest, key_id)
    ){strict}""",
    "CREATE INDEX artifacts_by_version ON artifacts (model, version)",
)

MODELS_5 = Migration(
    number=5,
    name="models",
    sqlite=tuple(table.format(real="REAL", strict=" STRICT") for table in _TABLES),
    postgres=tuple(table.format(real="DOUBLE PRECISION", strict="") for table in _TABLES),
)
