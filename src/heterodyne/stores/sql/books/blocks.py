"""Blocks: many records as one value, since a row for each would cost ten times what all their sums do.

A block's place in time is in `usage_block_index`: one row for the whole of it, under no project, and one for each of
its projects. Which ids it may hold is beside it: those of one worker's life share their beginning (`origin`) and count
up from there, so few blocks are looked into for one id.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from heterodyne.domain.record_block import RecordBlock
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from heterodyne.stores.sql.books.conditions import Conditions, text
from heterodyne.stores.sql.script import Row, Script, Statement

WHOLE: Final = ""  # the project of the row for all of a block
COUNTER_CHARS: Final = 8  # of an id, at its end
HEADS_AT_ONCE = 256
RECORDS_AT_ONCE = 8192
ROWS_AT_ONCE = 100  # written by one statement

_INDEX_COLUMNS = ("project", "last_at", "number", "first_at", "records", "errors")


class BlockHead(NamedTuple):
    """What is known of a block without reading it."""

    last_at: float  # of all its records, also where the head is one project's
    number: int
    first_at: float
    records: int
    errors: int


def add_block(tally: UsageTally) -> Script[None]:
    """Records that no block has, one at least."""
    columns = tally.records.columns
    ids, moments = columns.values("id"), columns.values("at")
    low_id, high_id, first_at, last_at = min(ids), max(ids), min(moments), max(moments)
    origin = _origin(low_id) if _origin(low_id) == _origin(high_id) else ""
    ((number,),) = yield Statement(
        "INSERT INTO usage_block (origin, low_id, high_id, content) VALUES ($1, $2, $3, $4) RETURNING number",
        (origin, text(low_id), text(high_id), tally.records.content),
    )
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (_, _, project, *_), day in tally.days.items():
        for name in {WHOLE, text(project)}:
            counts[name][0] += day.requests
            counts[name][1] += day.errors
    rows: list[Row] = [(name, last_at, number, first_at, *count) for name, count in counts.items()]
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield _insert_heads(rows[start : start + ROWS_AT_ONCE])


def heads(
    *,
    since_at: float | None,
    until_at: float | None,
    project: str | None,
    errors_only: bool,
    after: BlockHead | None,
) -> Script[list[BlockHead]]:
    """The next blocks of a walk back in time that may hold a record of the span; `until_at` is in it."""
    conditions = Conditions()
    conditions.add("project = {}", WHOLE if project is None else text(project))
    if since_at is not None:
        conditions.add("last_at >= {}", since_at)
    if until_at is not None:
        conditions.add("first_at <= {}", until_at)
    if errors_only:
        conditions.add("errors > 0")
    if after is not None:
        conditions.add("(last_at, number) < ({}, {})", after.last_at, after.number)
    rows = yield Statement(
        f"SELECT {', '.join(BlockHead._fields)} FROM usage_block_index {conditions.sql()} "  # noqa: S608  # ours
        f"ORDER BY last_at DESC, number DESC LIMIT {HEADS_AT_ONCE}",
        conditions.values,
    )
    return [BlockHead(*row) for row in rows]


def in_parts(some: Sequence[BlockHead]) -> Iterator[Sequence[BlockHead]]:
    """In the same order, so many at once that a part can be held in memory."""
    start = count = 0
    for end, head in enumerate(some):
        if end > start and count + head.records > RECORDS_AT_ONCE:
            yield some[start:end]
            start, count = end, 0
        count += head.records
    if start < len(some):
        yield some[start:]


def read(numbers: Sequence[int]) -> Script[list[UsageRecord]]:
    """Everything that is in these blocks."""
    rows = yield Statement(
        f"SELECT content FROM usage_block WHERE number IN ({_places(len(numbers))})",  # noqa: S608  # places of values
        tuple(numbers),
    )
    return [record for (content,) in rows for record in RecordBlock.read(content)]


def blocks_of(request_ids: Iterable[str]) -> Script[list[int]]:
    """Blocks in which one of these ids may be."""
    by_origin: dict[str, list[str]] = defaultdict(list)
    for request_id in request_ids:
        by_origin[_origin(request_id)].append(text(request_id))
    numbers: set[int] = set()
    for origin, ids in by_origin.items():
        ids.sort()
        rows: list[Row] = yield Statement(
            "SELECT number, low_id, high_id FROM usage_block "
            "WHERE origin IN ($1, '') AND high_id >= $2 AND low_id <= $3",
            (origin, ids[0], ids[-1]),
        )
        for number, low_id, high_id in rows:
            place = bisect_left(ids, low_id)
            if place < len(ids) and ids[place] <= high_id:
                numbers.add(number)
    return sorted(numbers)


def forget_blocks(before_at: float, records_max: int) -> Script[int]:
    """Records before a time, the oldest blocks first; how many."""
    forgotten = 0
    while forgotten < records_max:
        rows = yield Statement(
            f"SELECT {', '.join(BlockHead._fields)} FROM usage_block_index "  # noqa: S608  # columns of ours
            f"WHERE project = '' AND first_at < $1 ORDER BY first_at LIMIT {HEADS_AT_ONCE}",
            (before_at,),
        )
        if not rows:
            break
        gone: list[int] = []
        for head in (BlockHead(*row) for row in rows):
            if forgotten < records_max:
                gone.append(head.number)
                forgotten += yield from _forget_block(head, before_at, records_max - forgotten)
        for table in ("usage_block_index", "usage_block"):
            yield Statement(f"DELETE FROM {table} WHERE number IN ({_places(len(gone))})", tuple(gone))  # noqa: S608
    return forgotten


def _forget_block(head: BlockHead, before_at: float, records_max: int) -> Script[int]:
    """How many of its records are not kept. What is kept is a block of its own from now on."""
    if head.last_at < before_at and head.records <= records_max:
        return head.records
    records = sorted((yield from read([head.number])), key=lambda record: record.at)
    old = min(records_max, sum(record.at < before_at for record in records))
    yield from add_block(UsageTally(records[old:]))
    return old


def _origin(request_id: str) -> str:
    return text(request_id[:-COUNTER_CHARS])


def _insert_heads(rows: list[Row]) -> Statement:
    width = len(_INDEX_COLUMNS)
    places = ", ".join(f"({_places(width, row * width + 1)})" for row in range(len(rows)))
    return Statement(
        f"INSERT INTO usage_block_index ({', '.join(_INDEX_COLUMNS)}) VALUES {places}",  # noqa: S608  # ours
        tuple(value for row in rows for value in row),
    )


def _places(count: int, first: int = 1) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))
