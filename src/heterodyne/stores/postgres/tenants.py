"""Tenants in PostgreSQL, shared by several gateways: each hears at once of what another has changed."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import asyncpg

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.stores.postgres.database import AWAY, PostgresDatabase
from heterodyne.stores.sql.script import Script, run_on_postgres
from heterodyne.stores.sql.tenants.sql_tenants import SqlTenants
from heterodyne.telemetry import log

CHANNEL = "heterodyne_tenants"
LOOK_S = 10.0  # also without a notice: one may be lost with its connection
RETRY_S = 1.0
CLOSE_TIMEOUT_S = 2.0

_log = log.get("stores")

T = TypeVar("T")


class PostgresTenants(SqlTenants):
    """Does not own the database."""

    def __init__(self, database: PostgresDatabase, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self._database = database

    async def changes(self, since: int) -> AsyncGenerator[int]:
        """As the port says, at once; while the database is away, as soon as it is back."""
        while True:
            try:
                async with self._ear() as (notice, connection):
                    while not connection.is_closed():
                        notice.clear()
                        version = await self.version()
                        if version != since:
                            since = version
                            yield version
                        with suppress(TimeoutError):
                            async with deadline(LOOK_S):
                                await notice.wait()
            except StoreUnavailable as error:
                _log.warning("tenants_not_read", reason=error.message)
            await asyncio.sleep(RETRY_S)

    async def _read(self, script: Script[T]) -> T:
        async with self._database.transaction(is_reading=True) as connection:
            return await run_on_postgres(connection, script)

    async def _write(self, script: Script[T]) -> T:
        async with self._database.transaction() as connection:
            result = await run_on_postgres(connection, script)
            await connection.execute(f"NOTIFY {CHANNEL}")  # heard when the transaction is committed
            return result

    @asynccontextmanager
    async def _ear(self) -> AsyncIterator[tuple[asyncio.Event, Any]]:
        """An event that is set by each notice, and by the end of the connection."""
        notice = asyncio.Event()

        def hear(*_: object) -> None:
            notice.set()

        connection = await self._database.listening_connection()
        try:
            connection.add_termination_listener(hear)
            try:
                await connection.add_listener(CHANNEL, hear)
            except (*AWAY, asyncpg.PostgresError) as error:
                raise StoreUnavailable(f"{self._database.where} cannot be listened to: {error}.") from error
            yield notice, connection
        finally:
            connection.remove_termination_listener(hear)
            try:
                await connection.close(timeout=CLOSE_TIMEOUT_S)
            except (*AWAY, asyncpg.PostgresError) as error:
                _log.debug("connection_not_closed", error=str(error))
                connection.terminate()
