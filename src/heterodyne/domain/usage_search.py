"""Pure: whether a record is one of those that are asked for."""

from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.usage import RequestQuery, UsageGroup, UsageRecord

Check = Callable[[UsageRecord], bool]

_FIELDS = {group: group.value for group in UsageGroup} | {UsageGroup.CLASS: "urgency"}


def matcher(query: RequestQuery) -> Check:
    """A check of one record against all that the query says, its span and its page included."""
    checks = [*_span(query), *_fields(query), *_least(query)]
    return lambda record: all(check(record) for check in checks)


def page_after(query: RequestQuery) -> tuple[float, str] | None:
    """The last record of the page before, by its time and its id; raises InvalidField."""
    if query.after is None:
        return None
    at, colon, request_id = query.after.partition(":")
    try:
        moment = float(at)
    except ValueError:
        moment = float("nan")
    if not colon or not isfinite(moment) or "\x00" in request_id:
        raise InvalidField("after: the `next` of an earlier page is expected.", param="after")
    return moment, request_id


def next_page(last: UsageRecord) -> str:
    """What `after` is for the page after this record."""
    return f"{last.at!r}:{last.id}"


def _span(query: RequestQuery) -> list[Check]:
    since_at, until_at, after = query.since_at, query.until_at, page_after(query)
    checks: list[Check] = []
    if since_at is not None:
        checks.append(lambda record: record.at >= since_at)
    if until_at is not None:
        checks.append(lambda record: record.at < until_at)
    if after is not None:
        checks.append(lambda record: (record.at, record.id) < after)
    return checks


def _fields(query: RequestQuery) -> list[Check]:
    wanted = {
        name: value
        for name, value in {
            "id": query.id,
            "status": query.status,
            "reason": query.reason,
            "replica": query.replica,
            "promise": query.promise,
        }.items()
        if value is not None
    }
    checks: list[Check] = []
    for group, value in query.where.items():
        if UsageGroup(group) is UsageGroup.DAY:
            checks.append(lambda record, day=value: _day(record) == day)  # type: ignore[misc]  # bound now
        else:
            wanted[_FIELDS[UsageGroup(group)]] = value
    if wanted:
        items = tuple(wanted.items())
        checks.append(lambda record: all(getattr(record, name) == value for name, value in items))
    return checks


def _least(query: RequestQuery) -> list[Check]:
    ttft_ms_min, total_ms_min = query.ttft_ms_min, query.total_ms_min
    checks: list[Check] = []
    if query.errors_only:
        checks.append(lambda record: bool(record.reason))
    if query.retried_only:
        checks.append(lambda record: record.retries > 0)
    if ttft_ms_min is not None:
        checks.append(lambda record: record.ttft_ms is not None and record.ttft_ms >= ttft_ms_min)
    if total_ms_min is not None:
        checks.append(lambda record: record.total_ms >= total_ms_min)
    return checks


def _day(record: UsageRecord) -> str:
    return datetime.fromtimestamp(record.at, UTC).strftime("%Y-%m-%d")
