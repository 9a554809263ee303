"""Tenants in a SQLite file."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import TypeVar

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.stores.sql.script import Script, run_on_sqlite
from heterodyne.stores.sql.tenants.sql_tenants import SqlTenants
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.telemetry import log

POLL_S = 1.0  # SQLite notifies no other process; another process writes only while a gateway has no admin API

_log = log.get("stores")

T = TypeVar("T")


class SqliteTenants(SqlTenants):
    """Does not own the database."""

    def __init__(
        self, database: SqliteDatabase, clock: Callable[[], float] = time.time, *, poll_s: float = POLL_S
    ) -> None:
        super().__init__(clock)
        self._database = database
        self._poll_s = poll_s

    async def changes(self, since: int) -> AsyncGenerator[int]:
        """As the port says, within a second."""
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                version = await self.version()
            except StoreUnavailable as error:
                _log.warning("tenants_not_read", reason=error.message)
                continue
            if version != since:
                since = version
                yield version

    async def _read(self, script: Script[T]) -> T:
        return await self._database.read(partial(run_on_sqlite, script=script))

    async def _write(self, script: Script[T]) -> T:
        return await self._database.write(partial(run_on_sqlite, script=script))
