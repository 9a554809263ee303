"""What the watch leaves in the metrics, look by look."""

from heterodyne.control.prober import ProbeResult
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Health, Replica
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Labels, SharedCounter, SharedGauge

GAUGES = (
    metrics.load_age,
    metrics.engine_running,
    metrics.engine_waiting,
    metrics.engine_kv_ratio,
    metrics.engine_prefix_hit_ratio,
)
COUNTERS = (
    metrics.engine_prompt_tokens,
    metrics.engine_output_tokens,
    metrics.engine_prefix_query_tokens,
    metrics.engine_prefix_hit_tokens,
)


def observe(before: Replica, seen: Replica, probe: ProbeResult, *, has_restarted: bool) -> None:
    """One look at a replica, which was known as `before`."""
    metrics.replica_ready.set((seen.pool, seen.id), float(seen.health is Health.READY))
    metrics.probe_seconds.observe((seen.pool,), probe.took_s)
    if has_restarted:
        metrics.replica_restarts.add((seen.pool, seen.id))
    labels = _labels(seen)
    if before.load_at_s is not None:
        metrics.load_age.set(labels, probe.at_s - before.load_at_s)
    if has_restarted or not probe.is_ready:
        # Of several workers' views the largest counts: ours must not be of before a restart that others have seen.
        for counter in COUNTERS:
            counter.forget(labels)
    if probe.load is not None:
        _observe_load(labels, probe.load)


def tell_distance(region: str, seconds: float | None) -> None:
    """How far away a region is; None: nobody knows any more."""
    if seconds is None:
        metrics.region_round_trip.forget((region,))
    else:
        metrics.region_round_trip.set((region,), seconds)


def forget(replica: Replica) -> None:
    """It has left the fleet; what was counted here stays."""
    metrics.replica_ready.forget((replica.pool, replica.id))
    labels = _labels(replica)
    for meter in (*GAUGES, *COUNTERS):
        meter.forget(labels)


def _labels(replica: Replica) -> Labels:
    return replica.pool, replica.id, replica.hardware or ""


def _observe_load(labels: Labels, load: EngineLoad) -> None:
    _set(metrics.engine_running, labels, load.running)
    _set(metrics.engine_waiting, labels, load.waiting)
    _set(metrics.engine_kv_ratio, labels, load.kv_share)
    _raise(metrics.engine_prompt_tokens, labels, load.prompt_tokens)
    _raise(metrics.engine_output_tokens, labels, load.output_tokens)
    _raise(metrics.engine_prefix_query_tokens, labels, load.prefix_query_tokens)
    _raise(metrics.engine_prefix_hit_tokens, labels, load.prefix_hit_tokens)
    if load.prefix_query_tokens and load.prefix_hit_tokens is not None:
        metrics.engine_prefix_hit_ratio.set(labels, load.prefix_hit_tokens / load.prefix_query_tokens)


def _set(gauge: SharedGauge, labels: Labels, value: float | None) -> None:
    """What an engine does not say has no line."""
    if value is not None:
        gauge.set(labels, value)


def _raise(counter: SharedCounter, labels: Labels, value: float | None) -> None:
    if value is not None:
        counter.raise_to(labels, value)
