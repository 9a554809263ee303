"""Whole days: what each key used, which outlives the records, and how long replicas were up."""

from collections.abc import Sequence

from heterodyne.domain.usage import IdleRow, Uptime, UsageGroup, UsageQuery, UsageRow
from heterodyne.domain.usage_tally import DayTally, UsageTally
from heterodyne.stores.sql.books.conditions import Conditions, text
from heterodyne.stores.sql.script import Script, Statement

ROWS_AT_ONCE = 50  # written by one statement

DAY_COLUMNS = ("day", "organisation", "project", "key", "model", "pool", "class", "tier", "hardware")
SUM_COLUMNS = (
    *("requests", "errors", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"),
    *("usd_micro", "hosted_usd_micro", "replica_us", "saved_usd_micro"),
)


def add_days(tally: UsageTally) -> Script[None]:
    """In one order for all who write, so that nobody waits in a circle."""
    days: dict[tuple[str, ...], list[DayTally]] = {}
    for key, day in tally.days.items():
        days.setdefault(tuple(map(text, key)), []).append(day)
    rows = [
        (*key, *(sum(getattr(day, column) for day in same) for column in SUM_COLUMNS))
        for key, same in sorted(days.items())
    ]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        yield Statement(_upsert_days(len(some)), tuple(value for row in some for value in row))


def read_usage(query: UsageQuery) -> Script[tuple[UsageRow, ...]]:
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


def add_uptime(uptimes: Sequence[Uptime]) -> Script[None]:
    for up in uptimes:
        yield Statement(
            "INSERT INTO replica_hours (day, pool, hardware, source, up_us, usd_micro) VALUES ($1, $2, $3, $4, $5, $6) "
            "ON CONFLICT (day, pool, hardware, source) "
            "DO UPDATE SET up_us = excluded.up_us, usd_micro = excluded.usd_micro",
            (up.day, up.pool, up.hardware, up.source, up.up_us, up.usd_micro),
        )


def read_idle(since: str | None, until: str | None) -> Script[tuple[IdleRow, ...]]:
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


def _upsert_days(rows: int) -> str:
    columns = DAY_COLUMNS + SUM_COLUMNS
    width = len(columns)
    places = ", ".join(
        f"({', '.join(f'${row * width + column}' for column in range(1, width + 1))})" for row in range(rows)
    )
    sums = ", ".join(f"{column} = usage_daily.{column} + excluded.{column}" for column in SUM_COLUMNS)
    return (
        f"INSERT INTO usage_daily ({', '.join(columns)}) VALUES {places} "  # noqa: S608  # columns of ours
        f"ON CONFLICT ({', '.join(DAY_COLUMNS)}) DO UPDATE SET {sums}"
    )
