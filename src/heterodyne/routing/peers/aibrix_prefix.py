"""Pure: AIBrix `prefix-cache`: the best prefix match that is not far busier than the rest, while loads are even.

Running requests are those in flight from this router, and blocks are the chain's, not of 128 characters. The index
keeps as many tokens of a replica as that has KV memory for; how AIBrix bounds its own is not known here.
"""

from collections.abc import Sequence
from math import sqrt

from heterodyne.routing.peers.picking import any_of, idlest_of
from heterodyne.routing.peers.prefix_book import PrefixBook
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

IMBALANCE_MAX = 8  # requests between the busiest and the idlest
DEVIATIONS_MAX = 1.0  # above the mean
TOKENS_MAX = 2_000_000.0  # where a replica's memory is not known


class AibrixPrefix:
    """Affinity with two cliffs, in requests."""

    name = "aibrix-prefix"

    def __init__(self) -> None:
        self._book = PrefixBook()

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The longest match among those that are not too busy; the idlest where there is none."""
        running = [state.in_flight for state in states]
        if max(running) - min(running) > IMBALANCE_MAX:
            return idlest_of(states, chance)
        mean = sum(running) / len(running)
        limit = mean + DEVIATIONS_MAX * sqrt(sum((load - mean) ** 2 for load in running) / len(running))
        matched = [
            tokens if load <= limit else 0
            for tokens, load in zip(self._book.matched(request.chain, states), running, strict=True)
        ]
        longest = max(matched)
        if not longest:
            return idlest_of(states, chance)
        return any_of([state for state, tokens in zip(states, matched, strict=True) if tokens == longest], chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """The prompt is held to be cached there from now on."""
        self._book.note(request.chain, state, min(TOKENS_MAX, state.kv_tokens))

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """Requests in flight are counted by the replica's state."""
