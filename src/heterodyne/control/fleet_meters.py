"""What the watch leaves in the metrics, look by look."""

from heterodyne.control.look import Look
from heterodyne.domain.fleet import Health, Replica
from heterodyne.telemetry import metrics
from heterodyne.telemetry.meters import Gauge, Labels


def observe(before: Replica, seen: Replica, look: Look, *, has_restarted: bool) -> None:
    """One look at a replica, which was known as `before`."""
    metrics.replica_ready.set((seen.pool, seen.id), float(seen.health is Health.READY))
    metrics.probe_seconds.observe((seen.pool,), look.took_s)
    if has_restarted:
        metrics.replica_restarts.add((seen.pool, seen.id))
    labels = _labels(seen)
    if before.load_at_s is not None:
        metrics.load_age.set(labels, look.at_s - before.load_at_s)
    if look.load is not None:
        _set(metrics.engine_running, labels, look.load.running)
        _set(metrics.engine_waiting, labels, look.load.waiting)
        _set(metrics.engine_kv_ratio, labels, look.load.kv_share)


def forget(replica: Replica) -> None:
    """It has left the fleet; what was counted stays."""
    metrics.replica_ready.forget((replica.pool, replica.id))
    labels = _labels(replica)
    for gauge in (metrics.load_age, metrics.engine_running, metrics.engine_waiting, metrics.engine_kv_ratio):
        gauge.forget(labels)


def _labels(replica: Replica) -> Labels:
    return replica.pool, replica.id, replica.hardware or ""


def _set(gauge: Gauge, labels: Labels, value: float | None) -> None:
    """What an engine does not say has no line."""
    if value is not None:
        gauge.set(labels, value)
