"""Pure: the llm-d router's default profile: queue 2, KV utilisation 2, prefix 3, the highest sum wins, ties by chance.

Queues and utilisation are what engines last published, so they lag; an engine that publishes nothing looks idle.
"""

from collections.abc import Sequence

from heterodyne.routing.peers.llm_d_prefixes import LlmDPrefixes
from heterodyne.routing.peers.picking import cheapest_of
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

QUEUE_WEIGHT = 2.0
KV_WEIGHT = 2.0
PREFIX_WEIGHT = 3.0


class LlmD:
    """Scores without units, weighed once for every workload."""

    name = "llm-d"

    def __init__(self) -> None:
        self._prefixes = LlmDPrefixes()

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The highest score."""
        gauges = [_gauges(state) for state in states]
        longest, shortest = max(gauges)[0], min(gauges)[0]
        spread = longest - shortest
        costs = [
            -QUEUE_WEIGHT * ((longest - queue) / spread if spread else 1.0)
            - KV_WEIGHT * (1.0 - kv_share)
            - PREFIX_WEIGHT * share
            for (queue, kv_share), share in zip(gauges, self._prefixes.shares(request, states), strict=True)
        ]
        return cheapest_of(states, costs, chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """The prompt is held to be cached there from now on."""
        self._prefixes.note(request, state)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """What the engine found cached is not fed back."""


def _gauges(state: ReplicaState) -> tuple[int, float]:
    """Requests that wait in the engine, and the share of its KV memory in use."""
    load = state.replica.load
    return (0, 0.0) if load is None else (load.waiting or 0, min(1.0, load.kv_share or 0.0))
