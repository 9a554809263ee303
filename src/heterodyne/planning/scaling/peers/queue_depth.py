"""A threshold on the engines' queues: one more when requests wait, one less when none has for minutes."""

from heterodyne.domain.replica_stage import COMING, PROVIDED, ReplicaStage
from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized

LOOK_S = 15.0
WAITING = 5.0  # a ready replica
UP_AFTER_S, DOWN_AFTER_S = 30.0, 300.0


class QueueDepth:
    """Waits for a replica that starts before it asks for another."""

    look_s = LOOK_S

    def __init__(self, bounds: PeerBounds, *, waiting: float = WAITING) -> None:
        self._bounds = bounds
        self._waiting = waiting
        self._full_since_s: float | None = None
        self._empty_since_s: float | None = None

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        now_s, pool = seen.at_s, seen.pool(self._bounds.pool)
        current, ready = pool.count(*PROVIDED), max(1, pool.count(ReplicaStage.READY))
        is_full, is_empty = seen.waiting / ready >= self._waiting, not seen.waiting
        self._full_since_s = (now_s if self._full_since_s is None else self._full_since_s) if is_full else None
        self._empty_since_s = (now_s if self._empty_since_s is None else self._empty_since_s) if is_empty else None
        wanted = current
        if self._full_since_s is not None and now_s - self._full_since_s >= UP_AFTER_S and not pool.count(*COMING):
            wanted, self._full_since_s = current + 1, now_s
        elif self._empty_since_s is not None and now_s - self._empty_since_s >= DOWN_AFTER_S:
            wanted, self._empty_since_s = current - 1, now_s
        return resized(seen, self._bounds, wanted, f"{seen.waiting} wait")
