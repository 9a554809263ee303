"""Pure: LiteLLM's cost-based routing: the lowest price of an input and an output token together.

LiteLLM knows prices by the token only. Replicas of our own are paid by the hour, so they get the price an operator
might write down for them: the hourly price times what a prompt token takes alone and an output token in a batch of
32, by physics with nothing learned. What has no price costs 5 dollars a token on that side, as in LiteLLM. Ties fall
by chance, so that the equal replicas of a pool share the work.
"""

from collections.abc import Sequence

from heterodyne.routing.peers.picking import Memoryless, cheapest_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

UNKNOWN_USD_PER_TOKEN = 5.0
BATCH = 32


class LitellmCost(Memoryless):
    """The cheapest pool gets everything, however busy it is."""

    name = "litellm-cost"

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """One of the cheapest."""
        return cheapest_of(states, [usd_per_token_pair(state) for state in states], chance)


def usd_per_token_pair(state: ReplicaState) -> float:
    """One input token and one output token."""
    price = state.replica.price
    if price.is_by_token:
        return _usd_per_token(price.usd_per_million_prompt_tokens) + _usd_per_token(
            price.usd_per_million_completion_tokens
        )
    if price.usd_per_hour is None:
        return 2 * UNKNOWN_USD_PER_TOKEN
    prior = state.speed.prior
    return price.usd_per_hour / 3600 * (prior.prompt_token_s + prior.step_s / BATCH + prior.sequence_s)


def _usd_per_token(usd_per_million: float | None) -> float:
    return UNKNOWN_USD_PER_TOKEN if usd_per_million is None else usd_per_million / 1e6
