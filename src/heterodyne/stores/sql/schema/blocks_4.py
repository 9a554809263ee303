"""Records of requests in blocks, and how much of each spool segment has become some."""

from heterodyne.stores.sql.migration import Migration

BLOCKS_4 = Migration(
    number=4,
    name="blocks",
    sqlite=(
        """CREATE TABLE usage_block (
            number INTEGER PRIMARY KEY,
            origin TEXT NOT NULL,
            low_id TEXT NOT NULL,
            high_id TEXT NOT NULL,
            content BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX usage_block_by_id ON usage_block (origin, high_id, low_id)",
        """CREATE TABLE usage_block_index (
            project TEXT NOT NULL,
            last_at REAL NOT NULL,
            number INTEGER NOT NULL,
            first_at REAL NOT NULL,
            records INTEGER NOT NULL,
            errors INTEGER NOT NULL,
            PRIMARY KEY (project, last_at, number)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX usage_block_index_by_number ON usage_block_index (number)",
        "CREATE INDEX usage_block_index_by_age ON usage_block_index (first_at) WHERE project = ''",
        """CREATE TABLE usage_segment (
            name TEXT PRIMARY KEY,
            until INTEGER NOT NULL,
            at REAL NOT NULL
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX usage_segment_by_age ON usage_segment (at)",
    ),
    postgres=(
        """CREATE TABLE usage_block (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            origin TEXT COLLATE "C" NOT NULL,
            low_id TEXT COLLATE "C" NOT NULL,
            high_id TEXT COLLATE "C" NOT NULL,
            content BYTEA NOT NULL
        )""",
        "CREATE INDEX usage_block_by_id ON usage_block (origin, high_id, low_id)",
        """CREATE TABLE usage_block_index (
            project TEXT COLLATE "C" NOT NULL,
            last_at DOUBLE PRECISION NOT NULL,
            number BIGINT NOT NULL,
            first_at DOUBLE PRECISION NOT NULL,
            records BIGINT NOT NULL,
            errors BIGINT NOT NULL,
            PRIMARY KEY (project, last_at, number)
        )""",
        "CREATE INDEX usage_block_index_by_number ON usage_block_index (number)",
        "CREATE INDEX usage_block_index_by_age ON usage_block_index (first_at) WHERE project = ''",
        """CREATE TABLE usage_segment (
            name TEXT COLLATE "C" PRIMARY KEY,
            until BIGINT NOT NULL,
            at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX usage_segment_by_age ON usage_segment (at)",
    ),
)
