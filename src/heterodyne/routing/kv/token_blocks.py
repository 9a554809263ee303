"""Finds, for prompts of token ids sent to one replica, which of the engine's blocks ends where one of ours does.

An engine evicts the end of a sequence first, so the block of the engine that ends ours is the first of its to go.
Blocks are told apart by their ids alone: where two tenants sent the same ids, both lose the block, and neither learns
of the other's.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING

from heterodyne.domain.kv_event import BlockHash, BlockRemoved, BlockStored
from heterodyne.routing.kv.chain import BLOCK_ENDS, ID_BYTES, Chain, begin, number_of, pack_ids

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

KNOWN_MAX = 8192  # blocks of the engine, and of ours, that are followed
BLOCK_TOKENS_MIN = 8  # smaller ones cost more to follow than they tell
ENDS_TOKENS = frozenset(end // ID_BYTES for end in BLOCK_ENDS)
NOWHERE = (None, 0)


class TokenBlocks:
    """Idle, and free, until the first prompt of token ids."""

    __slots__ = ("_reached", "_wanted")

    def __init__(self) -> None:
        self._wanted: OrderedDict[int, set[int]] = OrderedDict()  # what the ids hash to: blocks of ours
        self._reached: OrderedDict[BlockHash, tuple[Hash, int]] = OrderedDict()  # the engine's: ids so far, how many

    def expect(self, chain: Chain, content: Chain) -> None:
        """These blocks may be stored soon."""
        for block, ids in zip(chain.hashes, content.hashes, strict=True):
            self._wanted.setdefault(ids, set()).add(block)
            self._wanted.move_to_end(ids)
        while len(self._wanted) > KNOWN_MAX:
            self._wanted.popitem(last=False)

    def store(self, event: BlockStored) -> None:
        """Follows the ids from the blocks before, where those were followed too."""
        if not self._wanted or not event.token_ids or event.block_tokens < BLOCK_TOKENS_MIN:
            return
        if event.parent is None:
            state, tokens = begin(b"ids", (event.adapter or "").encode()), 0
        elif event.parent in self._reached:
            state, tokens = self._reached[event.parent]
        else:
            return
        for block, at in zip(event.hashes, range(0, len(event.token_ids), event.block_tokens), strict=True):
            state = state.copy()
            try:
                state.update(pack_ids(event.token_ids[at : at + event.block_tokens]))
            except OverflowError:
                return
            tokens += event.block_tokens
            self._reached[block] = (state, tokens)
        while len(self._reached) > KNOWN_MAX:
            self._reached.popitem(last=False)

    def remove(self, event: BlockRemoved) -> list[int]:
        """Blocks of ours that end with one of these."""
        gone: list[int] = []
        for block in event.hashes if self._reached else ():
            state, tokens = self._reached.pop(block, NOWHERE)
            if state is not None and tokens in ENDS_TOKENS:
                gone.extend(self._wanted.pop(number_of(state), ()))
        return gone
