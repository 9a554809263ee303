"""Pure: the replica with the fewest requests in flight from this router, ties by chance."""

from collections.abc import Sequence

from heterodyne.routing.peers.picking import Memoryless, idlest_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class LeastRequest(Memoryless):
    """Blind to how long a request is and how fast a replica."""

    name = "least-request"

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The idlest."""
        return idlest_of(states, chance)
