"""Predictions that have come away from the truth: routing then chooses by the wrong numbers."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

COUNT_MIN = 50  # requests of a quarter of an hour


def _expression(settings: AlertSettings) -> str:
    error = 'max by (pool) (heterodyne_routing_prediction_error_ratio{what="ttft"})'
    count = "sum by (pool) (increase(heterodyne_gateway_requests_total[15m]))"
    return f"{error} > {settings.predictor_drift_max:g} and {count} >= {COUNT_MIN}"


def _judge(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.predictions is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"Median |ln(actual / predicted)| of TTFT {one.median:.2f}.")
        for one in signals.predictions
        if one.count >= COUNT_MIN and one.median > settings.predictor_drift_max
    )


ALERTS = (
    Alert(
        name="predictor_drift",
        severity=Severity.TICKET,
        hold_s=900,
        summary="Predictions for pool {subject} are far from what happens.",
        section="predictor-drift",
        labels=("pool",),
        expression=_expression,
        judge=_judge,
    ),
)
