"""Pure: each replica in turn, in the order of their ids."""

from collections.abc import Sequence

from heterodyne.domain.fleet import ReplicaId
from heterodyne.routing.peers.picking import Memoryless
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


class RoundRobin(Memoryless):
    """Remembers whose turn it was, so that comings and goings do not start the round again."""

    name = "round-robin"

    def __init__(self) -> None:
        self._last = ReplicaId("")

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The next one after the last."""
        last = self._last
        picked = min([state for state in states if state.replica.id > last] or states, key=_id)
        self._last = picked.replica.id
        return picked


def _id(state: ReplicaState) -> ReplicaId:
    return state.replica.id
