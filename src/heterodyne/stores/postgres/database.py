"""A PostgreSQL database: a pool of connections, each call under a timeout, and a schema of its own that is migrated."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import asyncpg

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreInvalid, StoreUnavailable
from heterodyne.domain.url_secrets import without_secrets
from heterodyne.stores.sql.migration import Migration, missing
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.wire.tls.failures import failure_text

SCHEMA = "heterodyne"
CONNECTIONS_MAX = 8
CALL_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 10.0
MIGRATION_TIMEOUT_S = 300.0  # another gateway may be migrating
MIGRATION_LOCK = 0x48444E31  # "HDN1"
SETTINGS = {"search_path": SCHEMA, "application_name": "heterodyne"}

# What asyncpg raises when the server is away, busy or leaves in the middle.
AWAY = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # of bytes that stop in the middle of a message
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)


class PostgresDatabase:
    """One database, shared by any number of gateways."""

    def __init__(self, pool: "asyncpg.Pool[Any]", url: str) -> None:
        self.pool = pool
        self.url = url
        self.where = _where(url)

    @classmethod
    async def open(cls, url: str, migrations: tuple[Migration, ...] = MIGRATIONS) -> Self:
        """Connect and migrate; raises StoreInvalid when it cannot, or when the database is of a newer version."""
        where = _where(url)
        try:
            await _migrate(url, where, migrations)
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=CONNECTIONS_MAX,
                timeout=CONNECT_TIMEOUT_S,
                command_timeout=CALL_TIMEOUT_S,
                server_settings=SETTINGS,
            )
        except (*AWAY, asyncpg.PostgresError, ValueError) as error:
            raise StoreInvalid(f"cannot open {where}: {_reason(error)}. Is `stores.url` right?") from error
        return cls(pool, url)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """A connection of the pool, waited for under a timeout; whatever the server does wrong is StoreUnavailable."""
        try:
            async with self.pool.acquire(timeout=CALL_TIMEOUT_S) as connection:
                yield connection
        except AWAY as error:
            raise StoreUnavailable(f"{self.where} does not answer: {_reason(error)}.") from error
        except asyncpg.PostgresError as error:  # a table that is gone, a page that is damaged, rights that were taken
            raise StoreUnavailable(f"{self.where} answers with an error: {_reason(error)}.") from error

    @asynccontextmanager
    async def transaction(self, *, is_reading: bool = False) -> AsyncIterator[Any]:
        """A connection inside a transaction; one that reads sees a single moment."""
        isolation = "repeatable_read" if is_reading else "read_committed"
        async with self.connection() as connection, connection.transaction(isolation=isolation, readonly=is_reading):
            yield connection

    async def listening_connection(self) -> Any:
        """A connection outside the pool, for LISTEN; the caller closes it."""
        try:
            return await asyncpg.connect(
                self.url, timeout=CONNECT_TIMEOUT_S, command_timeout=CALL_TIMEOUT_S, server_settings=SETTINGS
            )
        except (*AWAY, asyncpg.PostgresError) as error:
            raise StoreUnavailable(f"{self.where} does not answer: {_reason(error)}.") from error

    async def close(self) -> None:
        """Let what runs finish, then close; what does not finish in time is cut off."""
        try:
            async with deadline(CALL_TIMEOUT_S):
                await self.pool.close()
        except TimeoutError:
            self.pool.terminate()


async def _migrate(url: str, where: str, migrations: tuple[Migration, ...]) -> None:
    """Forward, one gateway at a time; the others read and write the shape before until it is there."""
    connection = await asyncpg.connect(
        url, timeout=CONNECT_TIMEOUT_S, command_timeout=MIGRATION_TIMEOUT_S, server_settings=SETTINGS
    )
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK)
            todo = missing(migrations, await _applied(connection, where), where)
            if todo:
                await _apply(connection, todo)
    finally:
        await connection.close(timeout=CALL_TIMEOUT_S)


async def _applied(connection: Any, where: str) -> list[tuple[int, str]]:
    tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", SCHEMA)
    if not tables:
        return []
    if "migrations" not in {table["tablename"] for table in tables}:
        raise StoreInvalid(f'the schema "{SCHEMA}" of {where} belongs to another program. Name another database.')
    return [tuple(row) for row in await connection.fetch("SELECT number, name FROM migrations")]


async def _apply(connection: Any, todo: tuple[Migration, ...]) -> None:
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    await connection.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    for migration in todo:
        for statement in migration.postgres:
            await connection.execute(statement)
        await connection.execute(
            "INSERT INTO migrations (number, name) VALUES ($1, $2)", migration.number, migration.name
        )


def _where(url: str) -> str:
    """The database without the password."""
    place = without_secrets(url).partition("://")[2].rpartition("@")[2].partition("?")[0]
    return f"the PostgreSQL database {place or 'here'}"


def _reason(error: BaseException) -> str:
    """asyncpg's words have no secrets in them, those about an address aside; a timeout has no words."""
    if isinstance(error, ssl.SSLError):  # some of them are ValueErrors, too
        return failure_text(error)
    if isinstance(error, ValueError):
        return "its address cannot be read; write % and the two digits of its code for a sign such as / or @ in it"
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
