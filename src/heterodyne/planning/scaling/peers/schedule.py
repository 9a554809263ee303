"""A schedule written beforehand, by somebody who knew what would come."""

from bisect import bisect_right
from collections.abc import Sequence

from heterodyne.planning.scaling.action import ScalingAction
from heterodyne.planning.scaling.observation import Observation
from heterodyne.planning.scaling.peers.resize import PeerBounds, resized


class Schedule:
    """So many replicas from each of these times on, the earliest first."""

    look_s = 10.0

    def __init__(self, bounds: PeerBounds, counts: Sequence[tuple[float, int]]) -> None:
        self._bounds = bounds
        self._counts = counts

    def look(self, seen: Observation) -> tuple[ScalingAction, ...]:
        """Decide."""
        place = bisect_right(self._counts, seen.at_s, key=lambda one: one[0]) - 1
        return resized(seen, self._bounds, self._counts[max(0, place)][1], "as written")
