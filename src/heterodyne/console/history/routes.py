"""What happened, minute by minute, and how long requests took: the sums of the books as figures.

Rates are over the part of a step that was asked for and has passed, so the step that is going on does not sag.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Guard
from heterodyne.console.history.pages import (
    Bar,
    Distributions,
    Figures,
    HistoryLine,
    HistoryPage,
    HistoryPoint,
    LatencyPage,
    LatencyPercentiles,
)
from heterodyne.console.query_params import MOMENT, check_names, read_members, read_moment
from heterodyne.domain.errors import InvalidField
from heterodyne.domain.history import MINUTE_S, Distribution, History, HistoryGroup, HistoryQuery, Sums
from heterodyne.domain.minutes import MICRO, THOUSANDTHS, merged_sums
from heterodyne.domain.spread import count_of, mean_ms, percentile_ms, percentiles_ms, upper_ms

SPAN_DEFAULT_S = 3600.0
POINTS_DEFAULT = 120  # at most, where no step was asked for
STEPS_S = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 7 * 86400)
SHARES = (0.5, 0.9, 0.99, 0.999)

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


class HistoryService(Protocol):
    """Whoever keeps the books."""

    async def history(self, query: HistoryQuery) -> History: ...


def history_routes(guard: Guard, books: HistoryService, clock: Callable[[], float]) -> list[AdminRoute]:
    """`/admin/history` and `/admin/latency`; the clock gives seconds since the epoch."""

    async def history(request: Request) -> HistoryPage:
        now = clock()
        return history_page(await books.history(read_history_query(request.query_params, now)), now)

    async def latency(request: Request) -> LatencyPage:
        now = clock()
        return latency_page(await books.history(read_latency_query(request.query_params, now)), now)

    return [
        AdminRoute(
            method="GET",
            path="/admin/history",
            endpoint=guard.reading(history),
            summary="Show what happened, step by step",
            answer=HistoryPage,
            query=(*SPAN, STEP),
        ),
        AdminRoute(
            method="GET",
            path="/admin/latency",
            endpoint=guard.reading(latency),
            summary="Show how long requests took, as distributions",
            answer=LatencyPage,
            query=SPAN,
        ),
    ]


def history_page(history: History, now: float) -> HistoryPage:
    """Every series, step by step and as a whole."""
    return HistoryPage(
        since_at=history.since_at,
        until_at=history.until_at,
        step_s=history.step_s,
        lines=tuple(
            HistoryLine(
                group=series.group,
                whole=figures_of(merged_sums(step.sums for step in series.steps), _span_s(history, now)),
                points=tuple(
                    HistoryPoint(at=step.at, figures=figures_of(step.sums, _step_span_s(history, step.at, now)))
                    for step in series.steps
                ),
            )
            for series in history.series
        ),
    )


def latency_page(history: History, now: float) -> LatencyPage:
    """Every series as a whole, with its distributions."""
    groups = []
    for series in history.series:
        sums = merged_sums(step.sums for step in series.steps)
        groups.append(
            Distributions(
                group=series.group,
                figures=figures_of(sums, _span_s(history, now)),
                ttft=_bars(sums.ttft),
                itl=_bars(sums.itl),
                total=_bars(sums.total),
                queue=_bars(sums.queue),
            )
        )
    return LatencyPage(since_at=history.since_at, until_at=history.until_at, groups=tuple(groups))


def figures_of(sums: Sums, span_s: float) -> Figures:
    """What some requests of a span of time amount to."""
    tokens = sums.prompt_tokens + sums.completion_tokens
    return Figures(
        requests=sums.requests,
        errors=sums.errors,
        failed=sums.faults,
        refused=sums.refused,
        promised=sums.promised,
        kept=sums.kept,
        retried=sums.retried,
        hedged=sums.hedged,
        prompt_tokens=sums.prompt_tokens,
        cached_tokens=sums.cached_tokens,
        completion_tokens=sums.completion_tokens,
        usd=sums.usd_micro / MICRO,
        replica_s=sums.replica_us / MICRO,
        requests_per_s=sums.requests / span_s,
        tokens_per_s=tokens / span_s,
        output_tokens_per_s=sums.completion_tokens / span_s,
        usd_per_million_tokens=sums.usd_micro / tokens if tokens and sums.usd_micro else None,
        attainment=sums.kept / sums.promised if sums.promised else None,
        ttft=spread(sums.ttft),
        itl=spread(sums.itl),
        total=spread(sums.total),
        queue=spread(sums.queue),
        ttft_error=_median_error(sums.ttft_error),
        itl_error=_median_error(sums.itl_error),
    )


def spread(distribution: Distribution) -> LatencyPercentiles:
    """The usual percentiles, within three per cent."""
    p50_ms, p90_ms, p99_ms, p999_ms = percentiles_ms(distribution, SHARES)
    return LatencyPercentiles(
        count=count_of(distribution),
        mean_ms=mean_ms(distribution),
        p50_ms=p50_ms,
        p90_ms=p90_ms,
        p99_ms=p99_ms,
        p999_ms=p999_ms,
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


def _span_s(history: History, now: float) -> float:
    return max(1.0, min(history.until_at, now) - history.since_at)


def _step_span_s(history: History, at: int, now: float) -> float:
    return max(1.0, min(at + history.step_s, history.until_at, now) - max(at, history.since_at))


def _bars(distribution: Distribution) -> tuple[Bar, ...]:
    return tuple(Bar(up_to_ms=upper_ms(bucket), count=count) for bucket, count in sorted(distribution.counts.items()))


def _median_error(distribution: Distribution) -> float | None:
    thousandths = percentile_ms(distribution, 0.5)
    return None if thousandths is None else thousandths / THOUSANDTHS


def _span(params: Mapping[str, str], now: float) -> tuple[float, float]:
    until_at = read_moment(params, "until_at")
    until_at = now if until_at is None else until_at
    since_at = read_moment(params, "since_at")
    return max(0.0, until_at - SPAN_DEFAULT_S) if since_at is None else since_at, until_at


def _groups(params: Mapping[str, str]) -> tuple[HistoryGroup, ...]:
    return read_members(HistoryGroup, "by", "group", params.get("by", ""))


def _where(params: Mapping[str, str]) -> dict[HistoryGroup, str]:
    return {group: params[group] for group in HistoryGroup if group in params}
