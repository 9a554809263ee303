"""Whether the database and the shared counters answer, and what time it is there; nothing is made or migrated."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.stores.open_store import DRIVER_MISSING, POSTGRES_SCHEMES, sqlite_path, unknown_scheme
from heterodyne.stores.redis.leases import RedisLeases
from heterodyne.stores.redis.reports import RedisReports
from heterodyne.stores.sql.migration import missing
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sqlite.file import APPLICATION_ID, translated

REDIS_TIMEOUT_S = 3.0  # a person waits at a terminal, no request does
POSTGRES_TIMEOUT_S = 5.0
POSTGRES_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"


class StoreStatus(Struct, frozen=True, kw_only=True):
    """What answers."""

    words: str
    clock_s: float | None = None  # seconds since the epoch, by its clock; None: it has none of its own


async def probe_database(url: str, environ: Mapping[str, str]) -> StoreStatus:
    """Raises `StoreInvalid` or `StoreUnavailable` where `serve` could not work with it."""
    if url.startswith("sqlite:"):
        return await asyncio.to_thread(_probe_file, sqlite_path(url, environ))
    if not url.startswith(POSTGRES_SCHEMES):
        raise unknown_scheme(url)
    return await _probe_postgres(url)


async def probe_redis(url: str) -> StoreStatus:
    """Raises `StoreUnavailable` where it is away, `SettingsInvalid` where it cannot be called."""
    leases = RedisLeases(url, timeout_s=REDIS_TIMEOUT_S)
    try:
        return StoreStatus(words="answers", clock_s=await leases.clock_s())
    finally:
        await leases.close()


async def probe_reports(url: str) -> StoreStatus:
    """The same of the Redis through which gateways tell each other of their fleet."""
    reports = RedisReports(url, timeout_s=REDIS_TIMEOUT_S)
    try:
        return StoreStatus(words=f"answers; {await reports.senders()} workers report")
    finally:
        await reports.close()


def _probe_file(path: Path) -> StoreStatus:
    if not path.exists():
        return StoreStatus(words=f"{path}, made at the first start")
    with translated(path):
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            (owner,) = connection.execute("PRAGMA application_id").fetchone()
            if owner != APPLICATION_ID and (owner or tables):
                raise StoreInvalid(f"{path} belongs to another program. Name another file in `stores.url`.")
            applied = connection.execute("SELECT number, name FROM migrations") if "migrations" in tables else ()
            todo = missing(MIGRATIONS, list(applied), str(path))
        finally:
            connection.close()
    return StoreStatus(words=f"{path}{_to_migrate(len(todo))}")


async def probe_prompts(url: str) -> StoreStatus:
    """The same of the PostgreSQL that keeps prompts of semantic caches; raises `StoreInvalid` without pgvector."""

    async def look(connection: Any) -> None:
        from heterodyne.stores.postgres.prompts import need_pgvector, pgvector_versions  # noqa: PLC0415 - an extra

        need_pgvector(*await pgvector_versions(connection))

    return await _probe_postgres(url, look)


async def _probe_postgres(url: str, look: Callable[[Any], Awaitable[None]] | None = None) -> StoreStatus:
    try:
        import asyncpg  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise StoreInvalid(DRIVER_MISSING) from error
    try:
        connection: Any = await asyncpg.connect(url, timeout=POSTGRES_TIMEOUT_S)
        try:
            clock_s = await connection.fetchval(POSTGRES_CLOCK, timeout=POSTGRES_TIMEOUT_S)
            if look is not None:
                await look(connection)
        finally:
            await connection.close(timeout=POSTGRES_TIMEOUT_S)
    except (OSError, asyncpg.InterfaceError, asyncpg.PostgresError, ValueError) as error:
        words = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise StoreUnavailable(f"PostgreSQL does not answer: {words}.") from error
    return StoreStatus(words="answers", clock_s=clock_s)


def _to_migrate(steps: int) -> str:
    return "; the next start brings it to the shape of this version" if steps else ""
