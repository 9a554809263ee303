"""Organisations, projects, keys, and the number that grows with every change of them."""

from heterodyne.stores.sql.migration import Migration

TENANTS_1 = Migration(
    number=1,
    name="tenants",
    sqlite=(
        """CREATE TABLE organisations (
            id TEXT PRIMARY KEY,
            limits TEXT NOT NULL,
            is_disabled INTEGER NOT NULL
        ) STRICT""",
        """CREATE TABLE projects (
            id TEXT PRIMARY KEY,
            organisation TEXT NOT NULL REFERENCES organisations (id),
            tier TEXT NOT NULL,
            weight REAL NOT NULL,
            limits TEXT NOT NULL,
            scopes TEXT NOT NULL,
            is_disabled INTEGER NOT NULL,
            keeps_content INTEGER NOT NULL,
            salt BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            project TEXT NOT NULL REFERENCES projects (id),
            secret_sha256 TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            tier TEXT,
            limits TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at REAL NOT NULL,
            expires_at REAL,
            revoked_at REAL,
            replaced_by TEXT REFERENCES keys (id)
        ) STRICT""",
        "CREATE INDEX projects_by_organisation ON projects (organisation)",
        "CREATE INDEX keys_by_project ON keys (project)",
        """CREATE TABLE tenants_version (
            only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
            version INTEGER NOT NULL
        ) STRICT""",
        "INSERT INTO tenants_version (only_one, version) VALUES (1, 0)",
    ),
    postgres=(
        """CREATE TABLE organisations (
            id TEXT COLLATE "C" PRIMARY KEY,
            limits TEXT NOT NULL,
            is_disabled BOOLEAN NOT NULL
        )""",
        """CREATE TABLE projects (
            id TEXT COLLATE "C" PRIMARY KEY,
            organisation TEXT COLLATE "C" NOT NULL REFERENCES organisations (id),
            tier TEXT NOT NULL,
            weight DOUBLE PRECISION NOT NULL,
            limits TEXT NOT NULL,
            scopes TEXT NOT NULL,
            is_disabled BOOLEAN NOT NULL,
            keeps_content BOOLEAN NOT NULL,
            salt BYTEA NOT NULL
        )""",
        """CREATE TABLE keys (
            id TEXT COLLATE "C" PRIMARY KEY,
            project TEXT COLLATE "C" NOT NULL REFERENCES projects (id),
            secret_sha256 TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            tier TEXT,
            limits TEXT NOT NULL,
            scopes TEXT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL,
            expires_at DOUBLE PRECISION,
            revoked_at DOUBLE PRECISION,
            replaced_by TEXT COLLATE "C" REFERENCES keys (id)
        )""",
        "CREATE INDEX projects_by_organisation ON projects (organisation)",
        "CREATE INDEX keys_by_project ON keys (project)",
        "CREATE TABLE tenants_version (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), version BIGINT NOT NULL)",
        "INSERT INTO tenants_version (only_one, version) VALUES (1, 0)",
    ),
)
