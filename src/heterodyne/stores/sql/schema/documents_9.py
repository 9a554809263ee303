"""Documents: what clients may ask for again, each with the time until which it is kept."""

from heterodyne.stores.sql.migration import Migration

_TABLES = (
    """CREATE TABLE documents (
        id {text} PRIMARY KEY,
        project {text} NOT NULL,
        kind {text} NOT NULL,
        parent {text} NOT NULL,
        place {integer} NOT NULL,
        revision {integer} NOT NULL,
        created_at {real} NOT NULL,
        expires_at {real} NOT NULL,
        body {bytes} NOT NULL
    ){strict}""",
    "CREATE INDEX documents_by_time ON documents (project, kind, created_at, place, id)",
    "CREATE INDEX documents_by_parent ON documents (project, kind, parent, place, created_at, id)",
    "CREATE INDEX documents_by_expiry ON documents (expires_at)",
)
_SQLITE = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "bytes": "BLOB", "strict": " STRICT"}
_POSTGRES = {
    "text": 'TEXT COLLATE "C"',  # ids are in one order in both
    "integer": "BIGINT",
    "real": "DOUBLE PRECISION",
    "bytes": "BYTEA",
    "strict": "",
}

DOCUMENTS_9 = Migration(
    number=9,
    name="documents",
    sqlite=tuple(table.format(**_SQLITE) for table in _TABLES),
    postgres=tuple(table.format(**_POSTGRES) for table in _TABLES),
)
