"""First tokens that come late for the unlucky, whatever the SLO is."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import AlertWindow, ModelSignals, Signals, TtftPercentile

SECTION = "late-first-tokens"
P99_COUNT_MIN = 100  # first tokens in the window: with fewer the percentile is a single request
P999_COUNT_MIN = 1000


def _expression(quantile: float, window: AlertWindow, count_min: int, limit_ms: float | None) -> str | None:
    if limit_ms is None:
        return None
    buckets = f"sum by (model, le) (rate(heterodyne_gateway_ttft_seconds_bucket[{window}]))"
    count = f"sum by (model) (increase(heterodyne_gateway_ttft_seconds_count[{window}]))"
    return f"histogram_quantile({quantile:g}, {buckets}) > {limit_ms / 1000:g} and {count} >= {count_min}"


def _p99_expression(settings: AlertSettings) -> str | None:
    return _expression(0.99, AlertWindow.M5, P99_COUNT_MIN, settings.ttft_p99_ms)


def _judge_p99(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.models is None:
        return None
    tails = [(one, one.ttft_p99) for one in signals.models]
    return _late(tails, P99_COUNT_MIN, settings.ttft_p99_ms)


def _p999_expression(settings: AlertSettings) -> str | None:
    return _expression(0.999, AlertWindow.M30, P999_COUNT_MIN, settings.ttft_p999_ms)


def _judge_p999(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.models is None:
        return None
    tails = [(one, one.ttft_p999) for one in signals.models]
    return _late(tails, P999_COUNT_MIN, settings.ttft_p999_ms)


def _late(
    tails: list[tuple[ModelSignals, TtftPercentile | None]], count_min: int, limit_ms: float | None
) -> tuple[AlertMatch, ...]:
    return tuple(
        AlertMatch(subject=model.model, detail=f"{tail.ms / 1000:.2f} s, and {limit_ms / 1000:g} s is the limit.")
        for model, tail in tails
        if limit_ms is not None and tail is not None and tail.count >= count_min and tail.ms > limit_ms
    )


ALERTS = (
    Alert(
        name="ttft_p99_high",
        severity=Severity.PAGE,
        hold_s=300,
        summary="One in a hundred first tokens of {subject} takes too long.",
        section=SECTION,
        labels=("model",),
        expression=_p99_expression,
        judge=_judge_p99,
    ),
    Alert(
        name="ttft_p999_high",
        severity=Severity.TICKET,
        hold_s=600,
        summary="One in a thousand first tokens of {subject} takes too long.",
        section=SECTION,
        labels=("model",),
        expression=_p999_expression,
        judge=_judge_p999,
    ),
)
