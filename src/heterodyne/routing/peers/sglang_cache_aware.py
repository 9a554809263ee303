"""Pure: the SGLang gateway's `cache_aware`: the replica that was sent most of this prompt, while loads are even.

Its radix tree over characters is a book of prompt blocks here, so shares are of tokens. Loads are requests in flight
from this router. Where several replicas were sent the longest match, its tree names whichever it finds first: so does
this.
"""

from collections.abc import Sequence

from heterodyne.routing.peers.picking import idlest_of
from heterodyne.routing.peers.prefix_book import PrefixBook
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

CACHE_THRESHOLD = 0.3  # of a prompt that must have been seen
BALANCE_ABSOLUTE = 64
BALANCE_RELATIVE = 1.5
TREE_TOKENS_MAX = 2**26 // 4  # its 2^26 characters a worker, at four to a token


class SglangCacheAware:
    """Affinity with a cliff: past the two balance thresholds the prompt no longer matters."""

    name = "sglang-cache-aware"

    def __init__(self) -> None:
        self._book = PrefixBook()

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The warmest replica, or the idlest where loads are uneven or little of the prompt was seen."""
        loads = [state.in_flight for state in states]
        most, least = max(loads), min(loads)
        if most - least > BALANCE_ABSOLUTE and most > BALANCE_RELATIVE * least:
            return idlest_of(states, chance)
        matched = self._book.matched(request.chain, states)
        longest = max(matched)
        if longest > CACHE_THRESHOLD * request.prompt_tokens:
            return states[matched.index(longest)]
        return idlest_of(states, chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """The prompt is in the tree from now on, whatever led there."""
        self._book.note(request.chain, state, TREE_TOKENS_MAX)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """The tree hears nothing of it."""
