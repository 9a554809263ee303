"""Clusters that say which replicas there are."""

from typing import Final

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

SILENT_S: Final = 300


def _judge(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.discoveries is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"It was last heard {(signals.at - one.heard_at) / 60:.0f} minutes ago.")
        for one in signals.discoveries
        if one.heard_at is not None and signals.at - one.heard_at > SILENT_S
    )


ALERTS = (
    Alert(
        name="discovery_silent",
        severity=Severity.TICKET,
        hold_s=0,
        summary="The cluster of pool {subject} does not answer; the pool serves on with the replicas last known.",
        section="discovery",
        labels=("pool",),
        expression=lambda _: (
            f"time() - max by (pool) (heterodyne_fleet_discovery_heard_timestamp_seconds) > {SILENT_S}"
        ),
        judge=_judge,
    ),
)
