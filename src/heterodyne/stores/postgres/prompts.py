"""Prompts of semantic caches in PostgreSQL with pgvector, for all workers and gateways.

Vectors of one length share a graph of neighbours (HNSW) over half-precision numbers. The fence stands in the query: of
one with few prompts all are looked at, and for one with many the graph is walked on until enough of them are found,
which pgvector does from 0.8 on.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

import asyncpg

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.ports.prompt_store import StoredPrompt

TIMEOUT_S: Final = 0.1  # a replica is asked instead
WRITE_TIMEOUT_S: Final = 5.0  # nobody waits for it
CONNECTIONS_MAX: Final = 8
NEAREST_MAX: Final = 4  # of which the first that still holds counts
DIMENSIONS_INDEXED_MAX: Final = 4000  # of half-precision vectors; of longer ones all of a fence are looked at
PROMPTS_MAX: Final = 1_000_000  # what ends soonest gives way
SWEEP_S: Final = 60.0  # between two
SWEPT_AT_ONCE: Final = 5000
VERSION_MIN: Final = (0, 8)  # before it a graph was not walked on

SCHEMA: Final = "heterodyne_prompts"
LOCK: Final = 0x48445052  # "HDPR"
SESSION: Final = {
    "application_name": "heterodyne",
    "search_path": f"{SCHEMA}, public, extensions",  # wherever the extension was made
    # A fence with few prompts is read whole, one with many is walked to: which of the two, its own size decides.
    "plan_cache_mode": "force_custom_plan",
    "hnsw.iterative_scan": "strict_order",
    "hnsw.max_scan_tuples": "20000",
}
TABLE: Final = (
    f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
    """CREATE TABLE IF NOT EXISTS prompts (
        fence BYTEA NOT NULL,
        answer_key BYTEA NOT NULL,
        dimensions INTEGER NOT NULL,
        embedding halfvec NOT NULL,
        model TEXT NOT NULL,
        project TEXT NOT NULL,
        tags TEXT[] NOT NULL,
        asked_at_s DOUBLE PRECISION NOT NULL,
        expires_at TIMESTAMPTZ NOT NULL,
        sealed BYTEA NOT NULL,
        PRIMARY KEY (fence, answer_key)
    )""",
    "CREATE INDEX IF NOT EXISTS prompts_end ON prompts (expires_at)",
)
PUT: Final = """
INSERT INTO prompts (fence, answer_key, dimensions, embedding, model, project, tags, asked_at_s, expires_at, sealed)
VALUES ($1, $2, $3, $4::real[]::halfvec, $5, $6, $7, $8, now() + make_interval(secs => $9), $10)
ON CONFLICT (fence, answer_key) DO UPDATE SET
    dimensions = excluded.dimensions, embedding = excluded.embedding, model = excluded.model,
    project = excluded.project, tags = excluded.tags, asked_at_s = excluded.asked_at_s,
    expires_at = excluded.expires_at, sealed = excluded.sealed
"""
REMOVE: Final = """
DELETE FROM prompts
WHERE asked_at_s < $1 AND ($2 = '' OR $2 = ANY(tags)) AND ($3 = '' OR model = $3) AND ($4 = '' OR project = $4)
"""
SWEEP: Final = """
DELETE FROM prompts WHERE (fence, answer_key) IN (
    SELECT fence, answer_key FROM prompts WHERE expires_at <= now() ORDER BY expires_at LIMIT $1
)
"""
TRIM: Final = """
DELETE FROM prompts WHERE (fence, answer_key) IN (
    SELECT fence, answer_key FROM prompts ORDER BY expires_at
    LIMIT least($1, greatest(0, (SELECT count(*) FROM prompts) - $2))
)
"""
NOT_YET: Final = (asyncpg.UndefinedTableError, asyncpg.UndefinedObjectError)  # until the first prompt is put there
AWAY: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class PgvectorPrompts:
    """`PromptStore` over asyncpg. It connects when it is first asked, so a gateway starts without its database."""

    def __init__(self, url: str, *, timeout_s: float | None = None, prompts_max: int = PROMPTS_MAX) -> None:
        self._url = url
        self._timeout_s = TIMEOUT_S if timeout_s is None else timeout_s
        self._prompts_max = prompts_max
        self._pool: asyncpg.Pool[Any] | None = None
        self._opening = asyncio.Lock()
        self._indexed: set[int] = set()  # lengths of vectors whose graph is there
        self._sweep_at_s = 0.0

    async def prepare(self) -> None:
        """Make what is missing; raises StoreInvalid where this database cannot keep prompts at all."""
        async with self._connection(WRITE_TIMEOUT_S) as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            await _need_extension(connection)
            for statement in TABLE:
                await connection.execute(statement)

    async def nearest(self, fence: bytes, vector: Sequence[float]) -> list[bytes]:
        length = len(vector)
        places = f"embedding::halfvec({length}) <=> $2::real[]::halfvec({length})"
        query = (
            f"SELECT sealed FROM prompts WHERE fence = $1 AND dimensions = {length} AND expires_at > now() "  # noqa: S608 - a length and a bound, both ours
            f"ORDER BY {places} LIMIT {NEAREST_MAX}"
        )
        async with self._connection(self._timeout_s) as connection:
            try:
                found = await connection.fetch(query, fence, vector)
            except NOT_YET:
                return []
        return [row[0] for row in found]

    async def put(self, prompt: StoredPrompt, ttl_s: float) -> None:
        length = len(prompt.vector)
        if length not in self._indexed:
            await self.prepare()
            await self._index(length)
        async with self._connection(WRITE_TIMEOUT_S) as connection:
            await connection.execute(
                PUT,
                prompt.fence,
                prompt.answer_key,
                length,
                prompt.vector,
                prompt.model,
                prompt.project,
                list(prompt.tags),
                prompt.asked_at_s,
                ttl_s,
                prompt.sealed,
            )
            if monotonic() >= self._sweep_at_s:
                self._sweep_at_s = monotonic() + SWEEP_S
                await connection.execute(SWEEP, SWEPT_AT_ONCE)
                await connection.execute(TRIM, SWEPT_AT_ONCE, self._prompts_max)

    async def remove(self, drop: CacheDrop) -> int:
        async with self._connection(WRITE_TIMEOUT_S) as connection:
            done: str = await connection.execute(REMOVE, drop.at, drop.tag, drop.model, drop.project)
        return int(done.rpartition(" ")[2])

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.terminate()

    async def _index(self, length: int) -> None:
        """The graph of vectors of one length, before the first of them."""
        if length <= DIMENSIONS_INDEXED_MAX:
            async with self._connection(WRITE_TIMEOUT_S) as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
                await connection.execute(
                    f"CREATE INDEX IF NOT EXISTS prompts_near_{length} ON prompts "
                    f"USING hnsw ((embedding::halfvec({length})) halfvec_cosine_ops) WHERE dimensions = {length}"
                )
        self._indexed.add(length)

    async def _open(self) -> "asyncpg.Pool[Any]":
        """A pool without a connection yet."""
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=CONNECTIONS_MAX,
                    timeout=WRITE_TIMEOUT_S,
                    command_timeout=WRITE_TIMEOUT_S,
                    server_settings=SESSION,
                )
            return self._pool

    @asynccontextmanager
    async def _connection(self, timeout_s: float) -> AsyncIterator[Any]:
        try:
            async with deadline(timeout_s):
                pool = self._pool or await self._open()
                async with pool.acquire() as connection:
                    yield connection
        except (*AWAY, ValueError) as error:
            # The driver's own words may hold the address, which may hold a password.
            words = f"PostgreSQL, which keeps prompts, does not answer ({type(error).__name__})."
            raise StoreUnavailable(words) from error


async def _need_extension(connection: Any) -> None:
    """Raises StoreInvalid with what has to be done, where pgvector is not there or too old."""
    offered, made = await pgvector_versions(connection)
    if made is None and offered is not None:
        try:
            async with connection.transaction():
                await connection.execute("CREATE EXTENSION vector")
        except asyncpg.InsufficientPrivilegeError as error:
            raise StoreInvalid(
                "stores.prompts_url: pgvector is installed and not made in that database, which its user may not do. "
                "Have its owner run `CREATE EXTENSION vector`."
            ) from error
    need_pgvector(offered, made)


async def pgvector_versions(connection: Any) -> tuple[str | None, str | None]:
    """Which is installed on the database's machine, and which is made in the database."""
    offered = await connection.fetchval("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    made = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    return offered, made


def need_pgvector(offered: str | None, made: str | None) -> None:
    """Raises StoreInvalid where there is none, or one before 0.8."""
    version = made or offered
    if version is None:
        raise StoreInvalid(
            "stores.prompts_url: that PostgreSQL has no pgvector. Install its package on the database's machine "
            "(postgresql-NN-pgvector), or leave `prompts_url` out: each worker then keeps its own prompts."
        )
    if tuple(int(part) for part in version.split(".")[:2]) < VERSION_MIN:
        raise StoreInvalid(
            f"stores.prompts_url: pgvector is {version} there; 0.8 or newer is needed. Install it and run "
            "`ALTER EXTENSION vector UPDATE`."
        )
