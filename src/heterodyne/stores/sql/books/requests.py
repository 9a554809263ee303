"""Single requests, the newest first: searched in blocks, and in the rows that older versions wrote."""

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Final

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.refusals import RefusalRow
from heterodyne.domain.usage import RequestPage, RequestQuery, UsageGroup, UsageRecord
from heterodyne.domain.usage_search import matcher, next_page, page_after
from heterodyne.stores.sql.books import blocks
from heterodyne.stores.sql.books.old_rows import refused_rows, search_rows
from heterodyne.stores.sql.script import Script

LIMIT_MAX: Final = 5000
REFUSALS_MAX: Final = 500  # rows: those with the most requests


def read_requests(query: RequestQuery) -> Script[RequestPage]:
    """One page."""
    if not 1 <= query.limit <= LIMIT_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {LIMIT_MAX} is expected.", param="limit")
    wanted = query.limit + 1
    found = yield from search_rows(query, wanted)
    if query.id is not None:
        found += yield from _find(query.id, query)
    else:
        found = yield from _search(query, found, wanted)
    page = found[: query.limit]
    return RequestPage(records=tuple(page), next=next_page(page[-1]) if len(found) > query.limit else None)


def read_refusals(since_at: float, until_at: float) -> Script[tuple[RefusalRow, ...]]:
    """A refusal is a record without a replica. It reads single records: a span is an hour."""
    refused = yield from refused_rows(since_at, until_at)
    walk = _Walk(RequestQuery(since_at=since_at, until_at=until_at, errors_only=True))
    while not walk.is_over:
        some = yield from walk.next_part()
        refused.update((record.project, record.reason) for record in some if not record.replica)
    rows = [RefusalRow(project=project, reason=reason, requests=count) for (project, reason), count in refused.items()]
    return tuple(sorted(rows, key=lambda row: (-row.requests, row.project, row.reason))[:REFUSALS_MAX])


def _find(request_id: str, query: RequestQuery) -> Script[list[UsageRecord]]:
    is_wanted = matcher(query)
    for number in (yield from blocks.blocks_of([request_id])):
        found = [record for record in (yield from blocks.read([number])) if is_wanted(record)]
        if found:
            return found
    return []


def _search(query: RequestQuery, found: list[UsageRecord], wanted: int) -> Script[list[UsageRecord]]:
    """The newest of what was found already and of what is in blocks."""
    walk = _Walk(query)
    while not walk.is_over and not (len(found) >= wanted and found[-1].at > walk.reached_at):
        found = _newest(found + (yield from walk.next_part()), wanted)
    return found


class _Walk:
    """Back in time through the blocks that may hold what is asked for, some at once."""

    def __init__(self, query: RequestQuery) -> None:
        self._query = query
        self._is_wanted = matcher(query)
        after = page_after(query)
        latest = [at for at in (query.until_at, after[0] if after is not None else None) if at is not None]
        self._until_at = min(latest, default=None)
        self._parts: deque[Sequence[blocks.BlockHead]] = deque()
        self._after: blocks.BlockHead | None = None
        self.is_over = False
        self.reached_at = inf  # nothing that is still to be read is later

    def next_part(self) -> Script[list[UsageRecord]]:
        """What is asked for in the next blocks, in no order."""
        if not self._parts:
            query = self._query
            heads = yield from blocks.heads(
                since_at=query.since_at,
                until_at=self._until_at,
                project=query.where.get(UsageGroup.PROJECT),
                errors_only=query.errors_only or bool(query.reason),
                after=self._after,
            )
            if not heads:
                self.is_over = True
                return []
            self._after = heads[-1]
            self._parts.extend(blocks.in_parts(heads))
        part = self._parts.popleft()
        self.reached_at = part[-1].last_at
        records = yield from blocks.read([head.number for head in part])
        return [record for record in records if self._is_wanted(record)]


def _newest(records: list[UsageRecord], most: int) -> list[UsageRecord]:
    return sorted(records, key=lambda record: (record.at, record.id), reverse=True)[:most]
