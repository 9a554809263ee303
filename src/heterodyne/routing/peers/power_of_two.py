"""Pure: of two replicas drawn at random the one with fewer requests in flight; Envoy's and Ray Serve's default."""

from collections.abc import Sequence

from heterodyne.routing.peers.picking import Memoryless
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class PowerOfTwo(Memoryless):
    """Nearly as good as the least of all, and does not herd on counts that are old."""

    name = "power-of-two"

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The idler of two; of two alike the first drawn."""
        if len(states) == 1:
            return states[0]
        first = int(chance() * len(states))
        second = int(chance() * (len(states) - 1))
        second += second >= first  # never the same twice
        return min(states[first], states[second], key=_in_flight)


def _in_flight(state: ReplicaState) -> int:
    return state.in_flight
