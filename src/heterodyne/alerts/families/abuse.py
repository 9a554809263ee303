"""Keys that policies against abuse have found: stolen, spread over many hands, or used to copy a model."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals
from heterodyne.domain.counted import counted


def _judge_abuse_found(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.abuse is None:
        return None
    return tuple(
        AlertMatch(subject=one.policy, detail=f"{counted(one.keys, 'key')}.") for one in signals.abuse if one.keys
    )


ALERTS = (
    Alert(
        name="abuse_found",
        severity=Severity.TICKET,
        hold_s=0,
        summary="The policy {subject} has found abuse of keys.",
        section="abuse",
        labels=("policy",),
        expression=lambda _: "sum by (policy) (heterodyne_abuse_keys) > 0",
        judge=_judge_abuse_found,
    ),
)
