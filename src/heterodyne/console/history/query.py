"""Reads from the query of a URL which span of time is asked for, in which steps, of what."""

from collections.abc import Mapping

from heterodyne.console.admin_route import QueryWord
from heterodyne.console.query_params import MOMENT, check_names, read_members, read_moment
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.history import MINUTE_S, HistoryGroup, HistoryQuery

SPAN_DEFAULT_S = 3600.0
POINTS_DEFAULT = 120  # at most, where no step was asked for
STEPS_S = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 7 * 86400)

SPAN = (
    QueryWord(
        name="since_at",
        description="From this moment on, in seconds since the epoch; an hour before the end when absent.",
        schema=MOMENT,
    ),
    QueryWord(name="until_at", description="Before this moment; now when absent.", schema=MOMENT),
    QueryWord(
        name="by",
        description=f"A series for each of these, with commas: {', '.join(HistoryGroup)}; one for all when absent.",
    ),
    *(QueryWord(name=group, description=f"Only this {group}.") for group in HistoryGroup),
)
STEP = QueryWord(
    name="step_s",
    description=f"Seconds of one step, whole minutes; when absent, such that there are at most {POINTS_DEFAULT}.",
    schema={"type": "integer", "minimum": MINUTE_S, "multipleOf": MINUTE_S},
)


def read_history_query(params: Mapping[str, str], now: float) -> HistoryQuery:
    """`since_at`, `until_at`, `step_s`, `by=pool,model`, and any group as a filter: `pool=h100`."""
    check_names(params, {"since_at", "until_at", "step_s", "by", *HistoryGroup})
    since_at, until_at = _span(params, now)
    step = params.get("step_s")
    if step is None:
        step_s = next((one for one in STEPS_S if (until_at - since_at) / one <= POINTS_DEFAULT), STEPS_S[-1])
    elif step.isascii() and step.isdigit() and len(step) <= 9:
        step_s = int(step)
    else:
        raise InvalidField("step_s: whole minutes in seconds, as 60 or 300.", param="step_s")
    return HistoryQuery(since_at=since_at, until_at=until_at, step_s=step_s, by=_groups(params), where=_where(params))


def read_latency_query(params: Mapping[str, str], now: float) -> HistoryQuery:
    """The same without steps: one as long as the span, which falls into two of them at the most."""
    check_names(params, {"since_at", "until_at", "by", *HistoryGroup})
    since_at, until_at = _span(params, now)
    step_s = MINUTE_S * (int((until_at - since_at) // MINUTE_S) + 2) if until_at > since_at else MINUTE_S
    return HistoryQuery(since_at=since_at, until_at=until_at, step_s=step_s, by=_groups(params), where=_where(params))


def _span(params: Mapping[str, str], now: float) -> tuple[float, float]:
    until_at = read_moment(params, "until_at")
    until_at = now if until_at is None else until_at
    since_at = read_moment(params, "since_at")
    return max(0.0, until_at - SPAN_DEFAULT_S) if since_at is None else since_at, until_at


def _groups(params: Mapping[str, str]) -> tuple[HistoryGroup, ...]:
    return read_members(HistoryGroup, "by", "group", params.get("by", ""))


def _where(params: Mapping[str, str]) -> dict[HistoryGroup, str]:
    return {group: params[group] for group in HistoryGroup if group in params}
