"""Pure: the llm-d router's "sticky until saturated": the affinity filter, then the least load in tokens.

Replicas believed to hold 0.8 of the prompt are kept to, until the idlest of them has 18 s more of uncached prompt
tokens waiting than the idlest of the others, at a rate that llm-d calibrates per deployment; by default that of a 32B
model on two H100s.
"""

from collections.abc import Sequence

from heterodyne.routing.peers.llm_d_prefixes import LlmDPrefixes
from heterodyne.routing.peers.picking import cheapest_of
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

AFFINITY_SHARE = 0.8
PREFILL_TOKENS_PER_S = 15_928.0
TTFT_PENALTY_MAX_S = 18.0
TOKEN_LOAD_MAX = 4_194_304.0  # beyond it one load is as bad as another


class LlmDSticky:
    """One rate for every replica, however fast it is."""

    name = "llm-d-sticky"

    def __init__(self, prefill_tokens_per_s: float = PREFILL_TOKENS_PER_S) -> None:
        self._lead_tokens_max = prefill_tokens_per_s * TTFT_PENALTY_MAX_S
        self._prefixes = LlmDPrefixes()

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The least loaded of the warm ones, or of all."""
        shares = self._prefixes.shares(request, states)
        warm = [(state, share) for state, share in zip(states, shares, strict=True) if share >= AFFINITY_SHARE]
        cold = [state for state, share in zip(states, shares, strict=True) if share < AFFINITY_SHARE]
        if warm and cold:
            lead = min(state.waiting_tokens for state, _ in warm) - min(state.waiting_tokens for state in cold)
            if lead <= self._lead_tokens_max:
                states, shares = [state for state, _ in warm], [share for _, share in warm]
        costs = [
            min(TOKEN_LOAD_MAX, state.waiting_tokens + request.prompt_tokens * (1.0 - share))
            for state, share in zip(states, shares, strict=True)
        ]
        return cheapest_of(states, costs, chance)

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """The prompt is held to be cached there from now on."""
        self._prefixes.note(request, state)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """Load in flight is counted by the replica's state."""
