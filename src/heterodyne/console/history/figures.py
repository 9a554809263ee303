"""Makes figures of the sums of the books: counts, rates, percentiles.

Rates are over the part of a step that was asked for and has passed, so the step that is going on does not sag.
"""

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
from heterodyne.domain.history import Distribution, History, Sums
from heterodyne.domain.minute_tally import MICRO, THOUSANDTHS
from heterodyne.domain.minutes import merged_sums
from heterodyne.domain.spread import count_of, mean_ms, percentile_ms, percentiles_ms, upper_ms

SHARES = (0.5, 0.9, 0.99, 0.999)


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


def _span_s(history: History, now: float) -> float:
    return max(1.0, min(history.until_at, now) - history.since_at)


def _step_span_s(history: History, at: int, now: float) -> float:
    return max(1.0, min(at + history.step_s, history.until_at, now) - max(at, history.since_at))


def _bars(distribution: Distribution) -> tuple[Bar, ...]:
    return tuple(Bar(up_to_ms=upper_ms(bucket), count=count) for bucket, count in sorted(distribution.counts.items()))


def _median_error(distribution: Distribution) -> float | None:
    thousandths = percentile_ms(distribution, 0.5)
    return None if thousandths is None else thousandths / THOUSANDTHS
