"""The real books on an SQLite database in memory, without a thread, that fails when it is told to."""

import sqlite3
import weakref
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.sql.books.sql_books import SqlBooks
from heterodyne.stores.sql.schema.catalogue import MIGRATIONS
from heterodyne.stores.sql.script import Script, run_on_sqlite

T = TypeVar("T")


class InlineBooks(SqlBooks):
    """`moods` are those of the next calls of `add`: "before" and "after" fail, anything else does not."""

    def __init__(self) -> None:
        super().__init__()
        self.moods: list[str] = []
        # Books that a test lets go of close themselves, in whichever thread the collector happens to run.
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        for migration in MIGRATIONS:
            for statement in migration.sqlite:
                self._connection.execute(statement)

    async def add(self, records: Sequence[UsageRecord], place: SpoolPlace | None = None) -> UsageTally:
        mood = self.moods.pop(0) if self.moods else ""
        if mood == "before":
            raise StoreUnavailable("away")
        new = await super().add(records, place)
        if mood == "after":
            raise StoreUnavailable("gone before it answered")
        return new

    def close(self) -> None:
        self._connection.close()

    async def _read(self, script: Script[T]) -> T:
        return run_on_sqlite(self._connection, script)

    async def _write(self, script: Script[T]) -> T:
        return run_on_sqlite(self._connection, script)
