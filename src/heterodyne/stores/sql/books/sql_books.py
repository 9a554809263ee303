"""Questions to the books, the same for every database; adding records is each one's own."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite
from typing import TypeVar

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.history import History, HistoryQuery
from heterodyne.domain.refusals import RefusalRow
from heterodyne.domain.usage import (
    IdleRow,
    RequestPage,
    RequestQuery,
    Uptime,
    UsageGroup,
    UsageQuery,
    UsageRow,
)
from heterodyne.stores.sql.books.minutes import forget_minutes, read_history
from heterodyne.stores.sql.books.rows import COLUMNS, SUM_COLUMNS, Conditions, record_of, text
from heterodyne.stores.sql.script import Script, Statement

LIMIT_MAX = 5000
REFUSALS_MAX = 500  # rows: those with the most requests

T = TypeVar("T")


class SqlBooks(ABC):
    """What `ports.books.BookStore` asks, less `add`."""

    def __init__(self) -> None:
        self._source = secrets.token_hex(8)  # whose minutes are written; no other source writes the same rows

    async def usage(self, query: UsageQuery) -> tuple[UsageRow, ...]:
        return await self._read(_usage(query))

    async def requests(self, query: RequestQuery) -> RequestPage:
        return await self._read(_requests(query))

    async def refusals(self, since_at: float, until_at: float) -> tuple[RefusalRow, ...]:
        return await self._read(_refusals(since_at, until_at))

    async def forget(self, before_at: float, records_max: int) -> int:
        return await self._write(_forget(before_at, records_max))

    async def history(self, query: HistoryQuery) -> History:
        return await self._read(read_history(query))

    async def forget_minutes(self, before_at: float, rows_max: int, keep_max: int) -> int:
        return await self._write(forget_minutes(before_at, rows_max, keep_max))

    async def add_uptime(self, uptimes: Sequence[Uptime]) -> None:
        await self._write(_add_uptime(uptimes))

    async def idle(self, since: str | None, until: str | None) -> tuple[IdleRow, ...]:
        return await self._read(_idle(since, until))

    @abstractmethod
    async def _read(self, script: Script[T]) -> T: ...

    @abstractmethod
    async def _write(self, script: Script[T]) -> T: ...


def _usage(query: UsageQuery) -> Script[tuple[UsageRow, ...]]:
    groups = tuple(dict.fromkeys(UsageGroup(group) for group in query.by))
    conditions = Conditions()
    conditions.add_days(query.since, query.until)
    conditions.add_groups(query.where)
    names = ", ".join(groups)
    sums = ", ".join(f"CAST(COALESCE(SUM({column}), 0) AS BIGINT)" for column in SUM_COLUMNS)
    sql = f"SELECT {names}{', ' if groups else ''}{sums} FROM usage_daily {conditions.sql()}"  # noqa: S608  # enums
    if groups:
        sql += f" GROUP BY {names} ORDER BY {names}"
    rows = yield Statement(sql, conditions.values)
    return tuple(
        UsageRow(
            group=dict(zip(groups, row, strict=False)),
            **dict(zip(SUM_COLUMNS, row[len(groups) :], strict=True)),
        )
        for row in rows
    )


def _requests(query: RequestQuery) -> Script[RequestPage]:
    if not 1 <= query.limit <= LIMIT_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {LIMIT_MAX} is expected.", param="limit")
    conditions = Conditions()
    if query.since_at is not None:
        conditions.add("at >= {}", query.since_at)
    if query.until_at is not None:
        conditions.add("at < {}", query.until_at)
    conditions.add_groups(query.where)
    _add_search(conditions, query)
    if query.after is not None:
        conditions.add("(at, id) < ({}, {})", *_cursor(query.after))
    where = conditions.sql()
    limit = conditions.place(query.limit + 1)
    rows = yield Statement(
        f"SELECT {', '.join(COLUMNS)} FROM usage {where} ORDER BY at DESC, id DESC LIMIT {limit}",  # noqa: S608  # ours
        conditions.values,
    )
    records = tuple(record_of(row) for row in rows[: query.limit])
    return RequestPage(
        records=records, next=f"{records[-1].at!r}:{records[-1].id}" if len(rows) > query.limit else None
    )


def _add_search(conditions: Conditions, query: RequestQuery) -> None:
    for column, value in (("id", query.id), ("reason", query.reason), ("replica", query.replica)):
        if value is not None:
            conditions.add(f"{column} = {{}}", text(value))
    if query.status is not None:
        conditions.add("status = {}", query.status)
    if query.promise is not None:
        conditions.add("promise = {}", text(query.promise))
    if query.errors_only or query.reason:
        conditions.add("reason <> ''")  # in these words it has an index of its own
    if query.ttft_ms_min is not None:
        conditions.add("ttft_ms >= {}", query.ttft_ms_min)
    if query.total_ms_min is not None:
        conditions.add("total_ms >= {}", query.total_ms_min)
    if query.retried_only:
        conditions.add("retries > 0")


def _cursor(after: str) -> tuple[float, str]:
    at, colon, request_id = after.partition(":")
    try:
        moment = float(at)
    except ValueError:
        moment = float("nan")
    if not colon or not isfinite(moment) or "\x00" in request_id:
        raise InvalidField("after: the `next` of an earlier page is expected.", param="after")
    return moment, request_id


def _refusals(since_at: float, until_at: float) -> Script[tuple[RefusalRow, ...]]:
    """By the index over time; a refusal is a record without a replica. It reads single records: a span is an hour."""
    rows = yield Statement(
        "SELECT project, reason, COUNT(*) AS refused FROM usage "
        "WHERE at >= $1 AND at < $2 AND reason <> '' AND replica = '' "
        "GROUP BY project, reason ORDER BY refused DESC, project, reason LIMIT $3",
        (since_at, until_at, REFUSALS_MAX),
    )
    return tuple(RefusalRow(project=project, reason=reason, requests=count) for project, reason, count in rows)


def _forget(before_at: float, records_max: int) -> Script[int]:
    gone = yield Statement(
        "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE at < $1 ORDER BY at LIMIT $2) RETURNING id",
        (before_at, records_max),
    )
    return len(gone)


def _add_uptime(uptimes: Sequence[Uptime]) -> Script[None]:
    for up in uptimes:
        yield Statement(
            "INSERT INTO replica_hours (day, pool, hardware, source, up_us, usd_micro) VALUES ($1, $2, $3, $4, $5, $6) "
            "ON CONFLICT (day, pool, hardware, source) "
            "DO UPDATE SET up_us = excluded.up_us, usd_micro = excluded.usd_micro",
            (up.day, up.pool, up.hardware, up.source, up.up_us, up.usd_micro),
        )


def _idle(since: str | None, until: str | None) -> Script[tuple[IdleRow, ...]]:
    """Hours paid and hours used meet in one sum, so neither is hidden where the other is missing."""
    conditions = Conditions()
    conditions.add_days(since, until)
    where = conditions.sql()
    rows = yield Statement(
        "SELECT day, pool, hardware, CAST(SUM(up_us) AS BIGINT), CAST(SUM(paid) AS BIGINT), "  # noqa: S608  # ours
        "CAST(SUM(busy_us) AS BIGINT), CAST(SUM(busy) AS BIGINT), CAST(SUM(tokens) AS BIGINT) FROM ("
        "SELECT day, pool, hardware, up_us, usd_micro AS paid, 0 AS busy_us, 0 AS busy, 0 AS tokens "
        f"FROM replica_hours {where} UNION ALL "
        "SELECT day, pool, hardware, 0, 0, replica_us, usd_micro - hosted_usd_micro, prompt_tokens + completion_tokens "
        f"FROM usage_daily {where} {'AND' if where else 'WHERE'} (replica_us > 0 OR usd_micro > hosted_usd_micro)"
        ") AS hours GROUP BY day, pool, hardware ORDER BY day, pool, hardware",
        conditions.values,
    )
    names = ("day", "pool", "hardware", "up_us", "paid_usd_micro", "busy_us", "busy_usd_micro", "tokens")
    return tuple(IdleRow(**dict(zip(names, row, strict=True))) for row in rows)
