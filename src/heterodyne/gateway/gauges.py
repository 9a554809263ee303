"""Gauges that are not counted as they change: brought up to date once a second, off the request path."""

from heterodyne import __version__
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.holdings import HoldingsWatch
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.health.breaker import BreakerState
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.routing.router import Router
from heterodyne.telemetry import metrics
from heterodyne.telemetry.build_form import build_form
from heterodyne.wire.server_connection import ServerLedger

OPENNESS = {BreakerState.CLOSED: 0.0, BreakerState.HALF_OPEN: 0.5, BreakerState.OPEN: 1.0}


class Gauges:
    """One per worker."""

    def __init__(
        self,
        ledger: ServerLedger,
        upstream: Upstream,
        gate: AdmissionGate,
        holdings: HoldingsWatch,
        request_log: RequestLog,
    ) -> None:
        self._ledger = ledger
        self._upstream = upstream
        self._gate = gate
        self._holdings = holdings
        self._request_log = request_log
        self._form = build_form()

    def note(self) -> None:
        """Bring all of them up to date."""
        upstream = self._upstream
        fleet = upstream.fleet.snapshot
        self._request_log.write_down()
        metrics.build_info.set((__version__, self._form), 1)
        metrics.connections.set((), len(self._ledger.connections))
        metrics.body_bytes.set((), self._ledger.body_bytes)
        connections = upstream.pool.snapshot()
        for replica in fleet.replicas:
            in_flight = upstream.limit.by_replica.get(replica.id, 0)
            metrics.in_flight.set((replica.model, replica.pool, replica.id), in_flight)
            opened, idle = connections.get(upstream.fleet.wire(replica.id).address, (0, 0))
            metrics.engine_connections.set((replica.id, "busy"), opened - idle)
            metrics.engine_connections.set((replica.id, "idle"), idle)
        self._gate.note_gauges()
        self._holdings.note_gauges()
        _note_health(upstream.selector.health.snapshot(upstream.clock()), fleet)
        _note_routing(upstream.router, fleet)
        for model, error_ratio in self._request_log.tokens.error_ratio.items():
            metrics.token_estimate_error.set((model,), error_ratio)


def _note_health(fleet_health: FleetHealthSnapshot, fleet: FleetSnapshot) -> None:
    """Totals are this worker's own and only grow; a replica that has left keeps its last ones."""
    pools = {replica.id: replica.pool for replica in fleet.replicas}
    for one in fleet_health.replicas:
        labels = (pools.get(one.replica, ""), one.replica)
        metrics.ejected.set(labels, float(one.ejected_until_s is not None))
        metrics.breaker_open.set(labels, OPENNESS[one.breaker])
        metrics.weight.set(labels, one.weight)
        metrics.in_flight_limit.set(labels, one.in_flight_limit)
        for what, left in one.remaining.items():
            metrics.provider_remaining.set((*labels, what), left)
        metrics.ejections.cell(labels)[0] = one.ejections
    for model in fleet_health.models:
        metrics.panic.set((model.model,), float(model.is_panicking))
        metrics.retry_tokens.cell((model.model,))[0] = model.retry_tokens_spent
        metrics.retries_refused.cell((model.model,))[0] = model.retries_refused
        metrics.hedges_refused.cell((model.model,))[0] = model.hedges_refused
    for pool, refused in fleet_health.ejections_refused.items():
        metrics.ejections_refused.cell((pool,))[0] = refused


def _note_routing(router: Router, fleet: FleetSnapshot) -> None:
    """A pool of which nothing has been heard has no error yet."""
    metrics.prefix_entries.set((), router.index.entries)
    trusts = router.trusts()
    for replica in fleet.replicas:
        metrics.prefix_trust.set((replica.pool, replica.id), trusts[replica.id])
    for pool, speed in router.speeds().items():
        if speed.samples:
            metrics.prediction_error.set((pool, "ttft"), speed.ttft_error_ratio)
            metrics.prediction_error.set((pool, "itl"), speed.itl_error_ratio)
            _note_forecasts(pool, "ttft", speed.samples, speed.covered)
            _note_forecasts(pool, "itl", speed.itl_samples, speed.itl_covered)
    for origin, saved in router.fabric.ledger.by_origin.items():
        if saved.arrived or saved.failed:
            metrics.kv_saved_seconds.set((origin.value,), saved.saved_s)
            metrics.kv_saved_usd.set((origin.value,), saved.usd)
    if router.gossip_dropped:
        metrics.gossip_dropped.cell(("overflow",))[0] = router.gossip_dropped


def _note_forecasts(pool: str, what: str, samples: int, covered: int) -> None:
    metrics.forecasts.cell((pool, what, "within"))[0] = covered
    metrics.forecasts.cell((pool, what, "outside"))[0] = samples - covered
