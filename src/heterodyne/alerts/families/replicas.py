"""Replicas and workers that are not there, or do not stay."""

from heterodyne.alerts.alert import GATEWAY, Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals
from heterodyne.domain.counted import times

RESTARTS_MAX = 3  # in half an hour
WANTED = 'sum by (pool) (heterodyne_fleet_replicas{state=~"down|restarting"})'
STARTING = 'sum by (pool) (heterodyne_fleet_replicas{state="starting"})'
READY = 'sum by (pool) (heterodyne_fleet_replicas{state="ready"})'
REPLICA_RESTARTS = "max by (replica) (increase(heterodyne_fleet_replica_restarts_total[30m]))"
# Every worker counts the restarts that it sees; as many as at best saw the replica ready are there to count.
WORKERS = "max by (replica) (max_over_time(heterodyne_fleet_replica_ready[30m]) > 0)"
DRIFT = "max by (replica) (heterodyne_fleet_replica_drift_nats)"
WORKER_RESTARTS = "heterodyne_gateway_worker_restarts_total[30m]"


def _judge_pool_down(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.wanted} should be.")
        for one in signals.pools
        if one.wanted and not one.ready
    )


def _judge_pool_not_starting(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.starting} should be.")
        for one in signals.pools
        if one.starting and not one.ready
    )


def _judge_replica_down(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.down} of {one.down + one.ready}.")
        for one in signals.pools
        if one.down
    )


def _judge_ejected(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.replicas is None:
        return None
    return tuple(AlertMatch(subject=one.replica, detail="") for one in signals.replicas if one.is_ejected)


def _judge_restarting(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.replicas is None:
        return None
    return tuple(
        AlertMatch(subject=one.replica, detail=f"{times(one.restarts)} in half an hour.")
        for one in signals.replicas
        if one.restarts >= RESTARTS_MAX
    )


def _judge_drifted(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.drifts is None:
        return None
    return tuple(
        AlertMatch(subject=one.replica, detail=f"{one.kl_nats:.3f} nats from its first ones.")
        for one in signals.drifts
        if one.kl_nats > settings.drift_max_nats
    )


def _judge_workers(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.worker_restarts is None:
        return None
    if signals.worker_restarts < RESTARTS_MAX:
        return ()
    return (AlertMatch(subject=GATEWAY, detail=f"{times(signals.worker_restarts)} in half an hour."),)


ALERTS = (
    Alert(
        name="pool_without_replica",
        severity=Severity.PAGE,
        hold_s=60,
        summary="No replica of pool {subject} is ready.",
        section="pool-without-a-replica",
        labels=("pool",),
        expression=lambda _: f"{WANTED} > 0 unless {READY} > 0",
        judge=_judge_pool_down,
    ),
    Alert(
        name="pool_not_starting",
        severity=Severity.PAGE,
        hold_s=900,  # weights may be large and disks slow
        summary="No replica of pool {subject} has become ready since it was added.",
        section="pool-without-a-replica",
        labels=("pool",),
        expression=lambda _: f"{STARTING} > 0 unless {READY} > 0",
        judge=_judge_pool_not_starting,
    ),
    Alert(
        name="replica_down",
        severity=Severity.TICKET,
        hold_s=300,
        summary="A replica of pool {subject} is down.",
        section="replica-down",
        labels=("pool",),
        expression=lambda _: 'sum by (pool) (heterodyne_fleet_replicas{state="down"}) > 0',
        judge=_judge_replica_down,
    ),
    Alert(
        name="replica_ejected",
        severity=Severity.TICKET,
        hold_s=120,
        summary="Replica {subject} fails where its equals do not, and gets no work.",
        section="replica-ejected",
        labels=("replica",),
        expression=lambda _: "max by (replica) (heterodyne_routing_ejected) > 0",
        judge=_judge_ejected,
    ),
    Alert(
        name="replica_restarting",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Replica {subject} does not stay up.",
        section="restarts",
        labels=("replica",),
        expression=lambda _: f"{REPLICA_RESTARTS} / {WORKERS} >= {RESTARTS_MAX}",
        judge=_judge_restarting,
    ),
    Alert(
        name="replica_drifted",
        severity=Severity.TICKET,
        hold_s=0,
        summary="Replica {subject} answers otherwise than it did.",
        section="replica-drifted",
        labels=("replica",),
        expression=lambda settings: f"{DRIFT} > {settings.drift_max_nats:g}",
        judge=_judge_drifted,
    ),
    Alert(
        name="workers_restarting",
        severity=Severity.PAGE,
        hold_s=0,
        summary="Gateway workers die and are started again.",
        section="restarts",
        labels=(),
        expression=lambda _: f"sum(increase({WORKER_RESTARTS})) >= {RESTARTS_MAX}",
        judge=_judge_workers,
    ),
)
