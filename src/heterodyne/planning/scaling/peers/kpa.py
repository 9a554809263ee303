"""Knative's autoscaler with its defaults: replicas by concurrency over a minute, or over seconds in a panic."""

from collections import deque
from math import ceil

from heterodyne.domain.replica_stage import PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized

LOOK_S = 2.0
STABLE_S, PANIC_S = 60.0, 6.0
PANIC_FROM = 2.0  # times what is ready
UTILISATION = 0.7  # of what a replica can hold
DOWN_RATE = 2.0


class Kpa:
    """`concurrency` is how many requests a replica holds at its best."""

    look_s = LOOK_S

    def __init__(self, bounds: PeerBounds, *, concurrency: float) -> None:
        self._bounds = bounds
        self._target = max(1.0, UTILISATION * concurrency)
        self._seen: deque[tuple[float, float]] = deque()
        self._panic_until_s = 0.0
        self._panic_most = 0

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        now_s, pool = seen.at_s, seen.pool(self._bounds.pool)
        self._seen.append((now_s, float(seen.in_flight + seen.held)))
        while self._seen[0][0] < now_s - STABLE_S:
            self._seen.popleft()
        ready, current = max(1, pool.count(ReplicaStage.READY)), pool.count(*PROVIDED)
        stable, panic = self._wanted(STABLE_S), self._wanted(PANIC_S)
        if panic >= PANIC_FROM * ready:
            if now_s >= self._panic_until_s:
                self._panic_most = current
            self._panic_until_s = now_s + STABLE_S
        if now_s < self._panic_until_s:
            wanted = self._panic_most = max(self._panic_most, panic, current)
        else:
            wanted = max(stable, ceil(ready / DOWN_RATE)) if stable else 0
        return resized(seen, self._bounds, wanted, f"{seen.in_flight} in flight, {self._target:.1f} a replica")

    def _wanted(self, window_s: float) -> int:
        last_s = self._seen[-1][0]
        recent = [value for at_s, value in self._seen if at_s > last_s - window_s]
        return ceil(sum(recent) / len(recent) / self._target)
