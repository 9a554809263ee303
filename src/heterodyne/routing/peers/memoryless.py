"""What a picker does about requests that start and end when it keeps nothing of them."""

from heterodyne.routing.picker import FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class Memoryless:
    """The half of a picker that has nothing to do."""

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Nothing is kept."""

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """Nothing was kept."""
