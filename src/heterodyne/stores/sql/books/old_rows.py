"""Records as rows of their own, as versions before blocks wrote them: they are read and forgotten, and none is added.

A gateway of such a version that runs beside this one still adds some.
"""

from collections import Counter
from collections.abc import Sequence

from heterodyne.domain.usage import RequestQuery, UsageRecord
from heterodyne.domain.usage_search import page_after
from heterodyne.stores.sql.books.conditions import Conditions, text
from heterodyne.stores.sql.script import Row, Script, Statement

COLUMNS = (
    *("id", "at", "day", "organisation", "project", "key", "tier", "class", "operation", "model", "version", "pool"),
    *("replica", "hardware", "status", "reason", "prompt_tokens", "cached_tokens", "completion_tokens"),
    *("reasoning_tokens", "is_estimated", "queue_ms", "ttft_ms", "itl_ms", "total_ms", "predicted_ttft_ms"),
    *("predicted_itl_ms", "usd_micro", "is_hosted_price", "retries", "is_hedged", "continuations", "replica_us"),
    "promise",
)
MICRO = 1_000_000
IDS_AT_ONCE = 50  # asked for by one statement


def search_rows(query: RequestQuery, rows_max: int) -> Script[list[UsageRecord]]:
    """Those that are asked for, the newest first."""
    conditions = Conditions()
    if query.since_at is not None:
        conditions.add("at >= {}", query.since_at)
    if query.until_at is not None:
        conditions.add("at < {}", query.until_at)
    conditions.add_groups(query.where)
    _add_search(conditions, query)
    after = page_after(query)
    if after is not None:
        conditions.add("(at, id) < ({}, {})", *after)
    where = conditions.sql()
    limit = conditions.place(rows_max)
    rows = yield Statement(
        f"SELECT {', '.join(COLUMNS)} FROM usage {where} ORDER BY at DESC, id DESC LIMIT {limit}",  # noqa: S608  # ours
        conditions.values,
    )
    return [record_of(row) for row in rows]


def refused_rows(since_at: float, until_at: float) -> Script[Counter[tuple[str, str]]]:
    """How many there are of each project and reason, by the index over time."""
    rows = yield Statement(
        "SELECT project, reason, COUNT(*) FROM usage "
        "WHERE at >= $1 AND at < $2 AND reason <> '' AND replica = '' GROUP BY project, reason",
        (since_at, until_at),
    )
    return Counter({(project, reason): count for project, reason, count in rows})


def known_rows(ids: Sequence[str]) -> Script[set[str]]:
    """Which of these ids there are."""
    known: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = tuple(map(text, ids[start : start + IDS_AT_ONCE]))
        places = ", ".join(f"${number}" for number in range(1, len(some) + 1))
        rows = yield Statement(f"SELECT id FROM usage WHERE id IN ({places})", some)  # noqa: S608  # places of values
        known.update(request_id for (request_id,) in rows)
    return known


def forget_rows(before_at: float, records_max: int) -> Script[int]:
    """Some of those before a time; how many."""
    gone = yield Statement(
        "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE at < $1 ORDER BY at LIMIT $2) RETURNING id",
        (before_at, records_max),
    )
    return len(gone)


def record_of(row: Row) -> UsageRecord:
    """The record that became the row; times of replicas to the microsecond."""
    by_name = dict(zip(COLUMNS, row, strict=True))
    del by_name["day"]
    by_name["urgency"] = by_name.pop("class")
    by_name["replica_s"] = by_name.pop("replica_us") / MICRO
    for flag in ("is_estimated", "is_hosted_price", "is_hedged"):
        by_name[flag] = bool(by_name[flag])
    return UsageRecord(**by_name)


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
