"""Gateways that share replicas and do not hear of each other, or do not work by the same settings."""

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals


def _judge_apart(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.reports_away is None:
        return None
    return (AlertMatch(subject=GATEWAY, detail=""),) if signals.reports_away else ()


def _judge_settings(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.settings_apart is None:
        return None
    names = ", ".join(signals.settings_apart)
    return (AlertMatch(subject=GATEWAY, detail=f"Others than here: {names}."),) if names else ()


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
    Alert(
        name="gateways_settings_apart",
        severity=Severity.TICKET,
        hold_s=300,
        summary="Gateways over one fleet work by different settings.",
        section="gateways",
        labels=(),
        expression=lambda _: "max(heterodyne_supervisor_settings_apart) > 0",
        judge=_judge_settings,
    ),
)
