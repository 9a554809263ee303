"""Pure: LiteLLM's default, simple shuffle: a replica at random, each as likely as the others.

LiteLLM can weigh deployments by hand; replicas here have no such weights.
"""

from collections.abc import Sequence

from heterodyne.routing.peers.picking import Memoryless, any_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class LitellmShuffle(Memoryless):
    """Looks at nothing."""

    name = "litellm-shuffle"

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """Any."""
        return any_of(states, chance)
