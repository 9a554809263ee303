"""The table of minutes, the same for every database: adds new records to it, reads spans of it, forgets what is old.

A row is written by one source alone, a life of one supervisor, so that several can add to the same minute without
waiting for each other: reading adds sources up. The counts of a row are columns, which the database adds up. Its
distributions are one run of entries, a code (which one, which bucket) and a count; runs one after the other mean what
they mean together, so a long span is read without taking each row apart.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.history import MINUTE_S, Distribution, History, HistoryGroup, HistoryQuery, Series, Step, Sums
from heterodyne.domain.minute_tally import COUNTS, SPREADS, MinuteTally
from heterodyne.domain.minutes import Labels, bounded, minutes_of
from heterodyne.domain.spread import BUCKETS
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.sql.books.conditions import Conditions, text
from heterodyne.stores.sql.script import Row, Script, Statement

POINTS_MAX = 20_000  # of all series of an answer together
SLICE_S = 2 * 3600  # of distributions read at once
ROWS_AT_ONCE = 50  # written by one statement

_LABELS = tuple(HistoryGroup)
_KEY = ("minute", "source", *_LABELS)
_SUM_COLUMNS = tuple(f"{name}_sum" for name in SPREADS)
_VALUES = (*COUNTS, *_SUM_COLUMNS, "spreads")
_COLUMNS = (*_KEY, *_VALUES)
_ENTRY = np.dtype([("code", "<u2"), ("count", "<u2")])  # code: the number of the distribution x BUCKETS + its bucket
_COUNT_MAX = 65535  # of one entry; more take several

Counts = Mapping[int, int]


def add_minutes(source: str, tally: UsageTally) -> Script[None]:
    """Add records that are new; runs in the transaction that keeps them."""
    rows: list[Row] = []
    for minute, tallies in minutes_of(tally, text).items():
        there = yield Statement(_READ, (minute, source))
        known = {Labels(*row[: len(_LABELS)]): _sums_of(row[len(_LABELS) : -1], _counted(row[-1])) for row in there}
        for labels, one in bounded(tallies, known).items():
            if labels in known:
                one.merge(known[labels])
            rows.append((minute, source, *labels, *_values_of(one)))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        yield Statement(_write(len(some)), tuple(value for row in some for value in row))


def read_history(query: HistoryQuery) -> Script[History]:
    """Counts by step and group from the database, distributions slice by slice."""
    since_at = int(query.since_at // MINUTE_S) * MINUTE_S
    until_at = -int(-query.until_at // MINUTE_S) * MINUTE_S
    groups = tuple(dict.fromkeys(HistoryGroup(group) for group in query.by))
    counted = yield _counts(query, groups, since_at, until_at)
    if len(counted) > POINTS_MAX:
        raise InvalidField(
            f"step_s: more than {POINTS_MAX} points in all series together; take longer steps, fewer groups or "
            "a filter.",
            param="step_s",
        )
    counts: dict[Row, Counter[int]] = defaultdict(Counter)
    first = min((row[-2] for row in counted), default=until_at)
    last = max((row[-1] for row in counted), default=since_at)
    for start_at in range(first, last + 1, SLICE_S):
        spreads = yield _spreads(query, groups, start_at, min(start_at + SLICE_S, until_at))
        runs: dict[Row, list[bytes]] = defaultdict(list)
        for *place, run in spreads:
            runs[tuple(place)].append(run)
        for point, some in runs.items():
            counts[point].update(_counted(b"".join(some)))
    series: dict[Row, list[Step]] = {}
    width = len(groups) + 1
    for row in counted:
        point = row[:width]
        sums = _sums_of(row[width:-2], counts[point])
        series.setdefault(point[:-1], []).append(Step(at=point[-1], sums=sums))
    return History(
        since_at=since_at,
        until_at=until_at,
        step_s=query.step_s,
        series=tuple(
            Series(group=dict(zip(groups, group, strict=True)), steps=tuple(steps)) for group, steps in series.items()
        ),
    )


def forget_minutes(before_at: float, rows_max: int, keep_max: int) -> Script[int]:
    """Whole minutes, the oldest first; how many rows, at most `rows_max`."""
    beyond = yield Statement("SELECT minute FROM usage_minute ORDER BY minute DESC LIMIT 1 OFFSET $1", (keep_max,))
    before = int(before_at // MINUTE_S) * MINUTE_S
    for (minute,) in beyond:
        before = max(before, minute + MINUTE_S)
    key = ", ".join(_KEY)
    gone = yield Statement(
        f"DELETE FROM usage_minute WHERE ({key}) IN "  # noqa: S608  # columns of ours
        f"(SELECT {key} FROM usage_minute WHERE minute < $1 ORDER BY minute LIMIT $2) RETURNING minute",
        (before, rows_max),
    )
    return len(gone)


def _counts(query: HistoryQuery, groups: tuple[HistoryGroup, ...], since_at: int, until_at: int) -> Statement:
    conditions, point = _point(query, groups, since_at, until_at)
    sums = (
        *(f"CAST(SUM({column}) AS BIGINT)" for column in COUNTS),
        *(f"SUM({column})" for column in _SUM_COLUMNS),
        *("MIN(minute)", "MAX(minute)"),
    )
    names = ", ".join((*groups, "at"))
    return Statement(
        f"SELECT {point}, {', '.join(sums)} FROM usage_minute {conditions.sql()} "  # noqa: S608  # enums and ours
        f"GROUP BY {names} ORDER BY {names} LIMIT {POINTS_MAX + 1}",
        conditions.values,
    )


def _spreads(query: HistoryQuery, groups: tuple[HistoryGroup, ...], since_at: int, until_at: int) -> Statement:
    conditions, point = _point(query, groups, since_at, until_at)
    return Statement(
        f"SELECT {point}, spreads FROM usage_minute {conditions.sql()}",  # noqa: S608  # enums and ours
        conditions.values,
    )


def _point(
    query: HistoryQuery, groups: tuple[HistoryGroup, ...], since_at: int, until_at: int
) -> tuple[Conditions, str]:
    """What is asked for, and the columns that say which step of which series a row belongs to."""
    conditions = Conditions()
    step = conditions.place(query.step_s)
    conditions.add("minute >= {}", since_at)
    conditions.add("minute < {}", until_at)
    for group, value in query.where.items():
        conditions.add(f"{HistoryGroup(group).value} = {{}}", text(value))
    return conditions, ", ".join((*groups, f"minute / {step} * {step} AS at"))


def _values_of(tally: MinuteTally) -> Row:
    spreads = [getattr(tally, name) for name in SPREADS]
    entries: list[tuple[int, int]] = []
    for number, spread in enumerate(spreads):
        for bucket, count in spread.counts.items():
            whole, rest = divmod(count, _COUNT_MAX)
            entries += [(number * BUCKETS + bucket, _COUNT_MAX)] * whole
            if rest:
                entries.append((number * BUCKETS + bucket, rest))
    return (
        *(getattr(tally, name) for name in COUNTS),
        *(spread.sum_ms for spread in spreads),
        np.array(entries, _ENTRY).tobytes(),
    )


def _counted(run: bytes) -> Counts:
    """How often every code occurs in a run, or in several of them joined."""
    entries = np.frombuffer(run, _ENTRY)
    counts = np.bincount(entries["code"], entries["count"]).astype(np.int64)
    codes = counts.nonzero()[0]
    return dict(zip(codes.tolist(), counts[codes].tolist(), strict=True))


def _sums_of(values: Row, counts: Counts) -> Sums:
    """From the columns of a row, or of several added up, and what is in their runs."""
    fields: dict[str, Any] = dict(zip(COUNTS, values, strict=False))
    by_spread: list[dict[int, int]] = [{} for _ in SPREADS]
    for code, count in counts.items():
        by_spread[code // BUCKETS][code % BUCKETS] = count
    for name, one, sum_ms in zip(SPREADS, by_spread, values[len(COUNTS) :], strict=True):
        fields[name] = Distribution(counts=one, sum_ms=sum_ms)
    return Sums(**fields)


def _write(rows: int) -> str:
    width = len(_COLUMNS)
    places = ", ".join(
        f"({', '.join(f'${row * width + column}' for column in range(1, width + 1))})" for row in range(rows)
    )
    return (
        f"INSERT INTO usage_minute ({', '.join(_COLUMNS)}) VALUES {places} "  # noqa: S608  # columns of ours
        f"ON CONFLICT ({', '.join(_KEY)}) "
        f"DO UPDATE SET {', '.join(f'{column} = excluded.{column}' for column in _VALUES)}"
    )


_READ = (
    f"SELECT {', '.join((*_LABELS, *_VALUES))} FROM usage_minute "  # noqa: S608  # columns of ours
    "WHERE minute = $1 AND source = $2"
)
