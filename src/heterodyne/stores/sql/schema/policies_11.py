"""What guards, caches and cascades did by the minute, what guards found, and which kept answers were dropped."""

from heterodyne.stores.sql.migration import Migration

# A row of minutes is written by one source alone, a life of one supervisor. Labels are JSON.
_TABLES = (
    """CREATE TABLE policy_minute (
        minute {integer} NOT NULL,
        source {text} NOT NULL,
        meter {text} NOT NULL,
        labels {text} NOT NULL,
        amount {real} NOT NULL,
        PRIMARY KEY (minute, source, meter, labels)
    ){strict}""",
    """CREATE TABLE guard_hit (
        id {text} PRIMARY KEY,
        at {real} NOT NULL,
        request {text} NOT NULL,
        project {text} NOT NULL,
        model {text} NOT NULL,
        policy {text} NOT NULL,
        rule {text} NOT NULL,
        action {text} NOT NULL,
        verdict {text} NOT NULL
    ){strict}""",
    "CREATE INDEX guard_hit_by_age ON guard_hit (at)",
    "CREATE INDEX guard_hit_by_request ON guard_hit (request)",
    """CREATE TABLE cache_drop (
        tag {text} NOT NULL,
        model {text} NOT NULL,
        project {text} NOT NULL,
        at {real} NOT NULL,
        until_at {real} NOT NULL,
        PRIMARY KEY (tag, model, project)
    ){strict}""",
)

POLICIES_11 = Migration(
    number=11,
    name="policies",
    sqlite=tuple(
        table.format(integer="INTEGER", text="TEXT", real="REAL", strict=" STRICT, WITHOUT ROWID") for table in _TABLES
    ),
    postgres=tuple(
        table.format(integer="BIGINT", text='TEXT COLLATE "C"', real="DOUBLE PRECISION", strict="") for table in _TABLES
    ),
)
