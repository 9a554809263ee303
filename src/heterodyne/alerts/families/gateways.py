"""Gateways that share replicas and do not hear of each other."""

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals


def _judge_apart(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.reports_away is None:
        return None
    return (AlertMatch(subject=GATEWAY, detail=""),) if signals.reports_away else ()


ALERTS = (
    Alert(
        name="gateways_apart",
        severity=Severity.TICKET,
        hold_s=120,
        summary="Gateways do not hear of each other's load: their store does not answer.",
        section="gateways",
        labels=(),
        expression=lambda _: "max(heterodyne_routing_reports_away) > 0",
        judge=_judge_apart,
    ),
)
