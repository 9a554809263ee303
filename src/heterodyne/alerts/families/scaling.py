"""Pools that grow and shrink by themselves, and cannot, or may not, grow as much as is needed."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

HOLD_S = 300
PAUSED_S = 3600
SECTION = "autoscaling"


def _judge_short(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.scaled_models is None:
        return None
    return tuple(AlertMatch(subject=one.model, detail=one.short) for one in signals.scaled_models if one.short)


def _judge_maximum(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.scaled_models is None:
        return None
    return tuple(
        AlertMatch(
            subject=one.model,
            detail=f"{one.needed:.2f} usual requests/s are needed, and {one.most:.2f} would be carried.",
        )
        for one in signals.scaled_models
        if one.needed > one.most
    )


def _judge_paused(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.scaled_models is None:
        return None
    return tuple(
        AlertMatch(subject=one.model, detail=f"`heterodyne scale resume {one.model}` ends that.")
        for one in signals.scaled_models
        if one.is_paused
    )


def _judge_away(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.scaled_pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"For {one.away_s:.0f} s: {one.problem}")
        for one in signals.scaled_pools
        if one.away_s is not None and one.away_s > one.cold_start_s
    )


ALERTS = (
    Alert(
        name="scaling_short",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="More is needed of {subject} than its replicas carry, and something is in the way of more.",
        section=SECTION,
        labels=("model",),
        expression=lambda _: "max by (model) (heterodyne_scaling_is_short) > 0",
        judge=_judge_short,
    ),
    Alert(
        name="scaling_above_maximum",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="More is needed of {subject} than all replicas that limits allow would carry.",
        section=SECTION,
        labels=("model",),
        expression=lambda _: (
            "max by (model) (heterodyne_scaling_needed_requests_per_second) "
            "> max by (model) (heterodyne_scaling_most_requests_per_second)"
        ),
        judge=_judge_maximum,
    ),
    Alert(
        name="scaling_paused",
        severity=Severity.TICKET,
        hold_s=PAUSED_S,
        summary="The autoscaler of {subject} is paused: the fleet neither grows nor shrinks.",
        section=SECTION,
        labels=("model",),
        expression=lambda _: "max by (model) (heterodyne_scaling_is_paused) > 0",
        judge=_judge_paused,
    ),
    Alert(
        name="scaling_driver_away",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Whoever starts the replicas of pool {subject} has not answered for longer than a start takes.",
        section=SECTION,
        labels=("pool",),
        expression=lambda _: (
            "max by (pool) (heterodyne_scaling_driver_away_seconds) "
            "> max by (pool) (heterodyne_scaling_cold_start_seconds)"
        ),
        judge=_judge_away,
    ),
)
