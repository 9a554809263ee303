"""What all workers have seen of a rollout since the last time."""

from collections.abc import Iterable

from heterodyne.rollout.arms_seen import NOTHING_SEEN, ArmsSeen
from heterodyne.supervisor.workers.view import WorkerView

Seen = dict[tuple[str, int], ArmsSeen]  # by worker and process: one that begins anew counts from nothing


class ArmReader:
    """Of one rollout. What was read counts once it is said to be kept; until then it is read again."""

    def __init__(self) -> None:
        self._kept: Seen = {}
        self._read: Seen = {}

    def read(self, rollout: str, views: Iterable[WorkerView]) -> ArmsSeen:
        """What is new."""
        self._read = {(view.name, view.pid): view.rollouts[rollout] for view in views if rollout in view.rollouts}
        total = NOTHING_SEEN
        for worker, arms in self._read.items():
            total = total.plus(arms.minus(self._kept.get(worker, NOTHING_SEEN)))
        return total

    def keep(self) -> None:
        """What was read last is part of the rollout now."""
        self._kept |= self._read
