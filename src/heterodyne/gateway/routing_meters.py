"""What the router has learned, as metrics; brought up to date once a second, off the request path."""

from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.routing.router import Router
from heterodyne.telemetry import metrics


def note_routing(router: Router, fleet: FleetSnapshot) -> None:
    """A pool of which nothing has been heard has no error yet."""
    metrics.prefix_entries.set((), router.prefix_entries)
    trusts = router.trusts()
    for replica in fleet.replicas:
        metrics.prefix_trust.set((replica.pool, replica.id), trusts[replica.id])
    for pool, speed in router.speeds().items():
        if speed.samples:
            metrics.prediction_error.set((pool, "ttft"), speed.ttft_error_ratio)
            metrics.prediction_error.set((pool, "itl"), speed.itl_error_ratio)
    if router.gossip_dropped:
        metrics.gossip_dropped.cell(("overflow",))[0] = router.gossip_dropped
