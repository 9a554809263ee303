"""Reads what an operator asks of the books from the query of a URL."""

from collections.abc import Mapping

from heterodyne.console.admin_route import QueryWord
from heterodyne.console.query_params import (
    MOMENT,
    check_names,
    read_flag,
    read_members,
    read_moment,
    read_number,
    read_whole,
)
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.usage import RequestQuery, UsageGroup, UsageQuery

LIMIT_DEFAULT = 100
LIMIT_MAX = 1000
MS_MAX = 1e9
SLO_OUTCOMES = ("kept", "broken")
MILLISECONDS = {"type": "number", "minimum": 0, "exclusiveMaximum": MS_MAX}
DAY = {"type": "string", "format": "date"}
DAYS = (
    QueryWord(name="since", description="The first UTC day; from the beginning when absent.", schema=DAY),
    QueryWord(name="until", description="The first UTC day that is left out.", schema=DAY),
)
FILTERS = tuple(QueryWord(name=group, description=f"Only this {group}.") for group in UsageGroup)
GROUPS = QueryWord(name="by", description=f"What to add up by, with commas: {', '.join(UsageGroup)}.")
PAGE = (
    QueryWord(name="since_at", description="From this moment on, in seconds since the epoch.", schema=MOMENT),
    QueryWord(name="until_at", description="Before this moment, in seconds since the epoch.", schema=MOMENT),
    QueryWord(
        name="limit",
        description="How many at most.",
        schema={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT_DEFAULT},
    ),
    QueryWord(name="after", description="The `next` of the page before."),
    QueryWord(name="id", description="The one request of this id."),
    QueryWord(
        name="status",
        description="Only answers with this HTTP status.",
        schema={"type": "integer", "minimum": 0, "maximum": 999},
    ),
    QueryWord(name="reason", description="Only this error code."),
    QueryWord(name="replica", description="Only what this replica answered."),
    QueryWord(name="errors", description="`true`: only those without a whole answer.", schema={"type": "boolean"}),
    QueryWord(
        name="slower_than_ms", description="Only first tokens that took at least this long.", schema=MILLISECONDS
    ),
    QueryWord(name="longer_than_ms", description="Only those that took at least this long.", schema=MILLISECONDS),
    QueryWord(name="retried", description="`true`: only those tried more than once.", schema={"type": "boolean"}),
    QueryWord(
        name="promise",
        description="Only those whose promise of latency was kept, or broken.",
        schema={"type": "string", "enum": list(SLO_OUTCOMES)},
    ),
)


def read_usage_query(params: Mapping[str, str]) -> UsageQuery:
    """`by=project,day&since=2026-11-01&until=…`, and any group as a filter: `project=acme/search`."""
    check_names(params, {"by", "since", "until", *UsageGroup})
    return UsageQuery(
        by=read_groups(params.get("by", "")), since=params.get("since"), until=params.get("until"), where=_where(params)
    )


def read_request_query(params: Mapping[str, str]) -> RequestQuery:
    """The words of `PAGE`, and any group as a filter."""
    check_names(params, {*(word.name for word in PAGE), *UsageGroup})
    promise = params.get("promise")
    if promise is not None and promise not in SLO_OUTCOMES:
        raise InvalidField(f"promise: {' or '.join(SLO_OUTCOMES)} is expected.", param="promise")
    return RequestQuery(
        since_at=read_moment(params, "since_at"),
        until_at=read_moment(params, "until_at"),
        limit=read_whole(params, "limit", 1, LIMIT_MAX) or LIMIT_DEFAULT,
        after=params.get("after"),
        where=_where(params),
        id=params.get("id"),
        status=read_whole(params, "status", 0, 999),
        reason=params.get("reason"),
        replica=params.get("replica"),
        errors_only=read_flag(params, "errors"),
        ttft_ms_min=read_number(params, "slower_than_ms", "milliseconds are expected", MS_MAX),
        total_ms_min=read_number(params, "longer_than_ms", "milliseconds are expected", MS_MAX),
        retried_only=read_flag(params, "retried"),
        promise=promise,
    )


def read_groups(params: str) -> tuple[UsageGroup, ...]:
    """Groups from a list with commas."""
    return read_members(UsageGroup, "by", "group", params)


def _where(params: Mapping[str, str]) -> dict[UsageGroup, str]:
    return {group: params[group] for group in UsageGroup if group in params}
