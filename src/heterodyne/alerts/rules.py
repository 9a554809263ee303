"""The catalogue as a rules file of Prometheus, in plain values that a YAML writer takes."""

from heterodyne.alerts.alert import GATEWAY, Alert
from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.recordings import RATE_INTERVAL_S, recordings
from heterodyne.alerts.settings import AlertSettings

Rule = dict[str, str | dict[str, str]]
Group = dict[str, str | list[Rule]]


def rules_file(settings: AlertSettings) -> dict[str, list[Group]]:
    """Recording rules, then the alerts that the settings have on."""
    recorded: list[Rule] = [{"record": one.name, "expr": one.expression} for one in recordings()]
    alerts = [_rule(alert, expression) for alert in ALERTS if (expression := alert.expression(settings)) is not None]
    return {
        "groups": [
            {"name": "heterodyne-recordings", "interval": f"{RATE_INTERVAL_S}s", "rules": recorded},
            {"name": "heterodyne-alerts", "interval": f"{RATE_INTERVAL_S}s", "rules": alerts},
        ]
    }


def _rule(alert: Alert, expression: str) -> Rule:
    subject = " ".join(map(_named, alert.labels)) or GATEWAY
    return {
        "alert": alert.prometheus_name,
        "expr": expression,
        "for": f"{alert.hold_s}s",
        "labels": {"severity": alert.severity.value},
        "annotations": {"summary": alert.summary.format(subject=subject), "guide": alert.guide},
    }


def _named(label: str) -> str:
    """Requests that were turned away before their body was read have no model."""
    return f'{{{{ or $labels.{label} "{GATEWAY}" }}}}' if label == "model" else f"{{{{ $labels.{label} }}}}"
