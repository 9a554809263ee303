"""Pure: the llm-d router's approximate prefix index: what it sent to each server, as many blocks as the server has.

Where an engine does not say how many, 31,250. A block of the index is at least 64 tokens while those of an engine may
have fewer: then it remembers more than the engine can hold, as in production. Prompts count up to 131,072 tokens.
"""

from bisect import bisect_right
from collections.abc import Sequence

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.peers.prefix_book import PrefixBook
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

BLOCK_TOKENS_MIN = 64
SERVER_BLOCKS = 31_250
PROMPT_TOKENS_MAX = 131_072


class LlmDPrefixes:
    """Shares of prompts that servers are believed to hold."""

    __slots__ = ("_book",)

    def __init__(self) -> None:
        self._book = PrefixBook()

    def shares(self, request: RoutingRequest, states: Sequence[ReplicaState]) -> list[float]:
        """Matched of total, both in whole blocks: the rest at a prompt's end counts on neither side."""
        chain = _counted(request.chain)
        if not chain.ends:
            return [0.0] * len(states)
        total = chain.ends[-1]
        return [tokens / total for tokens in self._book.matched(chain, states)]

    def note(self, request: RoutingRequest, state: ReplicaState) -> None:
        """The prompt goes there."""
        self._book.note(_counted(request.chain), state, _tokens_max(state))


def _counted(chain: Chain) -> Chain:
    if not chain.ends or chain.ends[-1] <= PROMPT_TOKENS_MAX:
        return chain
    blocks = bisect_right(chain.ends, PROMPT_TOKENS_MAX)
    return Chain(chain.hashes[:blocks], chain.ends[:blocks])


def _tokens_max(state: ReplicaState) -> int:
    load = state.replica.load
    if load is None or not load.kv_tokens or not load.block_tokens:
        return SERVER_BLOCKS * BLOCK_TOKENS_MIN
    return load.kv_tokens // load.block_tokens * max(BLOCK_TOKENS_MIN, load.block_tokens)
