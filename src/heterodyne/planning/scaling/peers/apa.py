"""AIBrix's pod autoscaler with its defaults: a metric per replica over a window, with a tolerance on either side."""

from collections import deque
from math import ceil

from heterodyne.domain.replica_stage import PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized

LOOK_S = 10.0
WINDOW_S = 60.0
UP_TOLERANCE, DOWN_TOLERANCE = 0.1, 0.2
UP_RATE, DOWN_RATE = 2.0, 2.0


class Apa:
    """`concurrency` is what a replica is to hold."""

    look_s = LOOK_S

    def __init__(self, bounds: PeerBounds, *, concurrency: float) -> None:
        self._bounds = bounds
        self._target = max(1.0, concurrency)
        self._seen: deque[tuple[float, float]] = deque()

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        pool = seen.pool(self._bounds.pool)
        current, ready = pool.count(*PROVIDED), max(1, pool.count(ReplicaStage.READY))
        self._seen.append((seen.at_s, seen.in_flight / ready))
        while self._seen[0][0] <= seen.at_s - WINDOW_S:
            self._seen.popleft()
        value = sum(one for _, one in self._seen) / len(self._seen)
        ratio = value / self._target
        wanted = current
        if ratio > 1.0 + UP_TOLERANCE:
            wanted = max(current, min(ceil(ready * ratio), ceil(UP_RATE * ready)))
        elif ratio < 1.0 - DOWN_TOLERANCE:
            wanted = min(current, max(ceil(ready * ratio), int(ready / DOWN_RATE)))
        return resized(seen, self._bounds, wanted, f"{value:.1f} in flight a replica of {self._target:.1f}")
