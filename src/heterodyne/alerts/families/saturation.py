"""Room that runs out: seen before it shows in latency."""

from heterodyne.alerts.alert import Alert, AlertMatch, Severity
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.signals import Signals

HOLD_S = 300
SECTION = "saturation"
RUNNING = "sum by (pool) (heterodyne_fleet_engine_running)"
WAITING = "sum by (pool) (heterodyne_fleet_engine_waiting)"
DEPTH = "heterodyne:queue_depth:sum"


def _pool_expression(settings: AlertSettings) -> str:
    in_flight = "sum by (pool) (heterodyne_gateway_requests_in_flight)"
    return f"{in_flight} / (sum by (pool) (heterodyne_routing_in_flight_limit) > 0) > {settings.saturation_max:g}"


def _judge_pool(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.in_flight} in flight of {one.in_flight_max}.")
        for one in signals.pools
        if one.in_flight_max and one.in_flight > settings.saturation_max * one.in_flight_max
    )


def _kv_expression(settings: AlertSettings) -> str:
    return f"avg by (pool) (heterodyne_fleet_engine_kv_ratio) > {settings.saturation_max:g}"


def _judge_kv(signals: Signals, settings: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.kv_share:.0%} in use.")
        for one in signals.pools
        if one.kv_share is not None and one.kv_share > settings.saturation_max
    )


def _engine_queue_expression(_: AlertSettings) -> str:
    return f"{WAITING} > 0 and {WAITING} > {RUNNING}"


def _judge_engine_queue(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.pools is None:
        return None
    return tuple(
        AlertMatch(subject=one.pool, detail=f"{one.waiting} wait, {one.running} run.")
        for one in signals.pools
        if one.waiting and one.running is not None and one.waiting > one.running
    )


def _queue_expression(_: AlertSettings) -> str:
    return f"{DEPTH} > 0 and {DEPTH} > {DEPTH} offset 5m"


def _judge_queue(signals: Signals, _: AlertSettings) -> tuple[AlertMatch, ...] | None:
    if signals.queues is None:
        return None
    return tuple(
        AlertMatch(subject=one.model, detail=f"{one.depth:g} wait, {one.depth_before:g} did five minutes ago.")
        for one in signals.queues
        if one.depth_before is not None and one.depth > one.depth_before
    )


ALERTS = (
    Alert(
        name="pool_saturated",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="Pool {subject} holds nearly as many requests as it bears.",
        section=SECTION,
        labels=("pool",),
        expression=_pool_expression,
        judge=_judge_pool,
    ),
    Alert(
        name="kv_full",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="The KV memory of pool {subject} is nearly full.",
        section=SECTION,
        labels=("pool",),
        expression=_kv_expression,
        judge=_judge_kv,
    ),
    Alert(
        name="engines_queueing",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="More requests wait in the engines of pool {subject} than run there.",
        section=SECTION,
        labels=("pool",),
        expression=_engine_queue_expression,
        judge=_judge_engine_queue,
    ),
    Alert(
        name="queue_growing",
        severity=Severity.TICKET,
        hold_s=HOLD_S,
        summary="The gateway's queue for {subject} grows.",
        section="growing-queue",
        labels=("model",),
        expression=_queue_expression,
        judge=_judge_queue,
    ),
)
