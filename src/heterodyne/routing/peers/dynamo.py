"""Pure: the Dynamo KV router with its defaults: the least prompt blocks to compute plus blocks in use, ties by chance.

    cost = max(0, (active prefill tokens + prompt - overlap) / block) + (blocks in use + those this prompt would add)

Dynamo learns from KV events what an engine holds. Here that is what it was sent, as much as its KV memory takes:
without the answers, and from the moment it is sent. Blocks in use are those of the prompts in flight, shared ones
once; answers are not counted (`router_track_output_blocks` is off).
"""

from collections.abc import Sequence
from math import inf

from heterodyne.routing.peers.by_place import ByPlace
from heterodyne.routing.peers.picking import cheapest_of
from heterodyne.routing.peers.prefix_book import PrefixBook
from heterodyne.routing.picker import Chance, FinishedRequestStats
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

BLOCK_TOKENS = 16  # with a temperature of 0 the choice does not depend on it


class Dynamo:
    """Counts blocks: a block to compute weighs what a block in use does, on every replica alike."""

    name = "dynamo"

    def __init__(self) -> None:
        self._cached = PrefixBook()
        self._in_use = PrefixBook()
        self._prompts = ByPlace(_Prompts)

    def pick(
        self, request: RoutingRequest, states: Sequence[ReplicaState], now_s: float, chance: Chance
    ) -> ReplicaState:
        """The lowest cost."""
        return cheapest_of(states, self.costs(request, states), chance)

    def costs(self, request: RoutingRequest, states: Sequence[ReplicaState]) -> list[float]:
        """In blocks, for each of these in their order."""
        prompt, prompts_of = request.prompt_tokens, self._prompts.of
        overlaps, shared = self._cached.matched(request.chain, states), self._in_use.matched(request.chain, states)
        return [
            (max(0.0, state.waiting_tokens + prompt - overlap) + prompts_of(state).tokens + prompt - known)
            / BLOCK_TOKENS
            for state, overlap, known in zip(states, overlaps, shared, strict=True)
        ]

    def on_start(self, request: RoutingRequest, state: ReplicaState, now_s: float) -> None:
        """Its prompt is in use there, and cached."""
        prompts, chain = self._prompts.of(state), request.chain
        prompts.tokens += request.prompt_tokens - self._in_use.matched(chain, (state,))[0]
        for block in chain.hashes:
            prompts.holders[block] = prompts.holders.get(block, 0) + 1
        self._in_use.note(chain, state, inf)
        self._cached.note(chain, state, state.kv_tokens)

    def on_end(self, request: RoutingRequest, state: ReplicaState, ended: FinishedRequestStats, now_s: float) -> None:
        """It is in use no more, but still cached."""
        prompts = self._prompts.try_of(state)
        if prompts is None:
            return
        holders, unused = prompts.holders, []
        for block in request.chain.hashes:
            left = holders.get(block, 0) - 1
            if left > 0:
                holders[block] = left
            elif left == 0:
                del holders[block]
                unused.append(block)
        self._in_use.drop(unused, state)
        # What others still hold of it stays.
        alone = request.prompt_tokens - self._in_use.matched(request.chain, (state,))[0]
        prompts.tokens = max(0, prompts.tokens - alone)


class _Prompts:
    """Those in flight on one replica."""

    __slots__ = ("holders", "tokens")

    def __init__(self) -> None:
        self.holders: dict[int, int] = {}  # block: how many of them have it
        self.tokens = 0  # of all, those they share once
