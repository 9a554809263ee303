"""How replicas stand with this worker, as metrics; brought up to date once a second, off the request path."""

from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.telemetry import metrics

OPENNESS = {BreakerState.CLOSED: 0.0, BreakerState.HALF_OPEN: 0.5, BreakerState.OPEN: 1.0}


def note_health(fleet_health: FleetHealthSnapshot, fleet: FleetSnapshot) -> None:
    """Totals are this worker's own and only grow; a replica that has left keeps its last ones."""
    pools = {replica.id: replica.pool for replica in fleet.replicas}
    for one in fleet_health.replicas:
        labels = (pools.get(one.replica, ""), one.replica)
        metrics.ejected.set(labels, float(one.ejected_until_s is not None))
        metrics.breaker_open.set(labels, OPENNESS[one.breaker])
        metrics.weight.set(labels, one.weight)
        metrics.in_flight_limit.set(labels, one.in_flight_limit)
        metrics.ejections.cell(labels)[0] = one.ejections
    for model in fleet_health.models:
        metrics.panic.set((model.model,), float(model.is_panicking))
        metrics.retry_tokens.cell((model.model,))[0] = model.retry_tokens_spent
        metrics.retries_refused.cell((model.model,))[0] = model.retries_refused
        metrics.hedges_refused.cell((model.model,))[0] = model.hedges_refused
    for pool, refused in fleet_health.ejections_refused.items():
        metrics.ejections_refused.cell((pool,))[0] = refused
