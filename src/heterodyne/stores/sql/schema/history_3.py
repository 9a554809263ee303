"""Whether a request kept its SLO, sums by the minute, and a short way to the requests that failed.

Minutes are an ordinary table in SQLite: in one without row ids, rows as long as these take a whole page each.
"""

from heterodyne.stores.sql.migration import Migration

HISTORY_3 = Migration(
    number=3,
    name="history",
    sqlite=(
        "ALTER TABLE usage ADD COLUMN promise TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX usage_errors_by_time ON usage (at, id) WHERE reason <> ''",
        """CREATE TABLE usage_minute (
            minute INTEGER NOT NULL,
            source TEXT NOT NULL,
            model TEXT NOT NULL,
            pool TEXT NOT NULL,
            hardware TEXT NOT NULL,
            tier TEXT NOT NULL,
            class TEXT NOT NULL,
            requests INTEGER NOT NULL,
            errors INTEGER NOT NULL,
            refused INTEGER NOT NULL,
            promised INTEGER NOT NULL,
            kept INTEGER NOT NULL,
            retried INTEGER NOT NULL,
            hedged INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            usd_micro INTEGER NOT NULL,
            replica_us INTEGER NOT NULL,
            faults INTEGER NOT NULL,
            ttft_sum REAL NOT NULL,
            itl_sum REAL NOT NULL,
            total_sum REAL NOT NULL,
            queue_sum REAL NOT NULL,
            ttft_error_sum REAL NOT NULL,
            itl_error_sum REAL NOT NULL,
            spreads BLOB NOT NULL,
            PRIMARY KEY (minute, source, model, pool, hardware, tier, class)
        ) STRICT""",
    ),
    postgres=(
        "ALTER TABLE usage ADD COLUMN promise TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX usage_errors_by_time ON usage (at, id) WHERE reason <> ''",
        """CREATE TABLE usage_minute (
            minute BIGINT NOT NULL,
            source TEXT COLLATE "C" NOT NULL,
            model TEXT COLLATE "C" NOT NULL,
            pool TEXT COLLATE "C" NOT NULL,
            hardware TEXT COLLATE "C" NOT NULL,
            tier TEXT COLLATE "C" NOT NULL,
            class TEXT COLLATE "C" NOT NULL,
            requests BIGINT NOT NULL,
            errors BIGINT NOT NULL,
            refused BIGINT NOT NULL,
            promised BIGINT NOT NULL,
            kept BIGINT NOT NULL,
            retried BIGINT NOT NULL,
            hedged BIGINT NOT NULL,
            prompt_tokens BIGINT NOT NULL,
            cached_tokens BIGINT NOT NULL,
            completion_tokens BIGINT NOT NULL,
            usd_micro BIGINT NOT NULL,
            replica_us BIGINT NOT NULL,
            faults BIGINT NOT NULL,
            ttft_sum DOUBLE PRECISION NOT NULL,
            itl_sum DOUBLE PRECISION NOT NULL,
            total_sum DOUBLE PRECISION NOT NULL,
            queue_sum DOUBLE PRECISION NOT NULL,
            ttft_error_sum DOUBLE PRECISION NOT NULL,
            itl_error_sum DOUBLE PRECISION NOT NULL,
            spreads BYTEA NOT NULL,
            PRIMARY KEY (minute, source, model, pool, hardware, tier, class)
        )""",
    ),
)
