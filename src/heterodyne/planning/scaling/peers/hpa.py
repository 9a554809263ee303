"""Kubernetes' horizontal pod autoscaler with its defaults: replicas by the ratio of a metric to its target."""

from collections import deque
from math import ceil

from heterodyne.domain.replica_stage import PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized

LOOK_S = 15.0
TOLERANCE = 0.1
DOWN_WINDOW_S = 300.0
UP_PODS, UP_TIMES = 4, 2  # at each look, whichever is more


class Hpa:
    """`metric` is a share of a replica: `busy_share` is what GPU utilisation says, `kv_share` the use of its cache."""

    look_s = LOOK_S

    def __init__(self, bounds: PeerBounds, *, metric: str = "busy_share", target: float = 0.8) -> None:
        self._bounds = bounds
        self._metric = metric
        self._target = target
        self._wanted: deque[tuple[float, int]] = deque()

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        pool = seen.pool(self._bounds.pool)
        current, ready = pool.count(*PROVIDED), pool.count(ReplicaStage.READY)
        value = float(getattr(pool, self._metric))
        wanted = self._desired(current, ready, value) if ready else max(current, self._bounds.minimum)
        wanted = min(wanted, max(UP_TIMES * current, current + UP_PODS), self._bounds.maximum)
        self._wanted.append((seen.at_s, wanted))
        while self._wanted[0][0] < seen.at_s - DOWN_WINDOW_S:
            self._wanted.popleft()
        if wanted < current:
            wanted = min(current, max(one for _, one in self._wanted))
        return resized(seen, self._bounds, wanted, f"{self._metric} is {value:.2f} of {self._target:.2f}")

    def _desired(self, current: int, ready: int, value: float) -> int:
        ratio = value / self._target
        if abs(ratio - 1.0) <= TOLERANCE:
            return current
        if ratio < 1.0 or ready == current:
            return ceil(ready * ratio)
        with_all = value * ready / current / self._target  # on the way up those that start are taken to be idle
        return current if with_all <= 1.0 + TOLERANCE else ceil(current * with_all)
