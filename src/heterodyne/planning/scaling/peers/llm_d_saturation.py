"""llm-d's variant autoscaler, saturation rule: one more when the spare cache or queue of the unsaturated is low, one
less when those that stay would have enough."""

from heterodyne.domain.replica_stage import COMING, PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized

LOOK_S = 30.0
KV_FULL, QUEUE_FULL = 0.80, 5.0
KV_SPARE, QUEUE_SPARE = 0.10, 3.0


class LlmDSaturation:
    """Of means over ready replicas."""

    look_s = LOOK_S

    def __init__(self, bounds: PeerBounds) -> None:
        self._bounds = bounds

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        pool = seen.pool(self._bounds.pool)
        current, ready = pool.count(*PROVIDED), pool.count(ReplicaStage.READY)
        kv, queue = pool.kv_share, seen.waiting / max(1, ready)
        wanted = current
        if KV_FULL - kv < KV_SPARE or QUEUE_FULL - queue < QUEUE_SPARE:
            wanted = current if pool.count(*COMING) else current + 1
        elif ready > 1 and not pool.count(*COMING):
            left = ready / (ready - 1)
            if KV_FULL - kv * left >= KV_SPARE and QUEUE_FULL - queue * left >= QUEUE_SPARE:
                wanted = current - 1
        return resized(seen, self._bounds, wanted, f"cache {kv:.0%}, {queue:.1f} wait a replica")
