"""The books, the same for every database but for how a script is run."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.domain.history import History, HistoryQuery
from heterodyne.domain.refusals import RefusalRow
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import (
    IdleRow,
    RequestPage,
    RequestQuery,
    Uptime,
    UsageQuery,
    UsageRecord,
    UsageRow,
)
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.sql.books.adding import add_records, forget_segments
from heterodyne.stores.sql.books.blocks import forget_blocks
from heterodyne.stores.sql.books.days import add_uptime, read_idle, read_usage
from heterodyne.stores.sql.books.minutes import forget_minutes, read_history
from heterodyne.stores.sql.books.old_rows import forget_rows
from heterodyne.stores.sql.books.requests import read_refusals, read_requests
from heterodyne.stores.sql.script import Script

T = TypeVar("T")


class SqlBooks(ABC):
    """What `ports.books.BookStore` asks."""

    def __init__(self) -> None:
        self._source = secrets.token_hex(8)  # whose minutes are written; no other source writes the same rows

    async def add(self, records: Sequence[UsageRecord], place: SpoolPlace | None = None) -> UsageTally:
        return await self._write(add_records(records, place, self._source))

    async def usage(self, query: UsageQuery) -> tuple[UsageRow, ...]:
        return await self._read(read_usage(query))

    async def requests(self, query: RequestQuery) -> RequestPage:
        return await self._read(read_requests(query))

    async def refusals(self, since_at: float, until_at: float) -> tuple[RefusalRow, ...]:
        return await self._read(read_refusals(since_at, until_at))

    async def forget(self, before_at: float, records_max: int) -> int:
        return await self._write(_forget(before_at, records_max))

    async def forget_segments(self, before_at: float) -> None:
        await self._write(forget_segments(before_at))

    async def history(self, query: HistoryQuery) -> History:
        return await self._read(read_history(query))

    async def forget_minutes(self, before_at: float, rows_max: int, keep_max: int) -> int:
        return await self._write(forget_minutes(before_at, rows_max, keep_max))

    async def add_uptime(self, uptimes: Sequence[Uptime]) -> None:
        await self._write(add_uptime(uptimes))

    async def idle(self, since: str | None, until: str | None) -> tuple[IdleRow, ...]:
        return await self._read(read_idle(since, until))

    @abstractmethod
    async def _read(self, script: Script[T]) -> T: ...

    @abstractmethod
    async def _write(self, script: Script[T]) -> T: ...


def _forget(before_at: float, records_max: int) -> Script[int]:
    forgotten = yield from forget_rows(before_at, records_max)
    return forgotten + (yield from forget_blocks(before_at, records_max - forgotten))
