"""What came of judging artifacts by the one they were built from: the latest of each engine."""

from heterodyne.stores.sql.migration import Migration

_TABLES = (
    """CREATE TABLE artifact_verdicts (
        digest TEXT NOT NULL REFERENCES artifacts (digest),
        run_by TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (digest, run_by)
    ){strict}""",
)

VERDICTS_6 = Migration(
    number=6,
    name="verdicts",
    sqlite=tuple(table.format(strict=" STRICT") for table in _TABLES),
    postgres=tuple(table.format(strict="") for table in _TABLES),
)
