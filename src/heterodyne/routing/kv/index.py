"""Which replicas hold how much of a prompt, as far as the requests sent to them tell.

A replica has a place, a small number that is its bit in a mask. Every block known anywhere has the mask of those that
hold it; every place has its blocks in the order they were last wanted, the end of a prompt before its beginning, so
that what is dropped first is always the end of something. That is how engines evict, too.
"""

from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from math import inf

from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.prefix_matches import PrefixMatches

BLOCKS_MAX = 16_384  # of one place


class PrefixIndex:
    """Bounded by blocks and, where a replica's KV memory is known, by the tokens it holds."""

    __slots__ = ("_blocks_max", "_holdings", "_masks", "entries")

    def __init__(self, blocks_max: int = BLOCKS_MAX) -> None:
        self.entries = 0  # blocks, counted once for every place that holds them
        self._blocks_max = blocks_max
        self._masks: dict[int, int] = {}
        self._holdings: dict[int, _Holding] = {}

    def matches(self, chain: Chain) -> PrefixMatches:
        """How much of the prompt each place holds."""
        found: list[tuple[float, frozenset[int]]] = []
        mask_of = self._masks.get
        alive, reached = -1, 0  # all places, before the first block
        for block, end in zip(chain.hashes, chain.ends, strict=True):
            here = mask_of(block, 0)
            if here != alive:
                here &= alive
                left = alive & ~here
                if left and alive > 0:
                    found.append((float(reached), _places(left)))
                alive = here
                if not here:
                    break
            reached = end
        if alive > 0:
            found.append((float(reached), _places(alive)))
        return PrefixMatches(tuple(found))

    def insert(self, place: int, chain: Chain) -> int:
        """A prompt goes to this place. Returns the tokens at its beginning that were proven to be there already."""
        holding, bit = self._holding(place), 1 << place
        blocks, masks = holding.blocks, self._masks
        hashes, ends = chain
        proven = ends[-1] if ends else 0
        for index in range(len(hashes) - 1, -1, -1):
            block = hashes[index]
            tokens = blocks.get(block)
            if tokens is not None:
                blocks.move_to_end(block)
                if tokens > 0:
                    continue
            proven = ends[index - 1] if index else 0
            if tokens is None:
                tokens = max(1, ends[index] - proven)
                blocks[block] = -tokens
                masks[block] = masks.get(block, 0) | bit
                holding.unproven_tokens += tokens
                self.entries += 1
        self._evict(holding, bit)
        return proven

    def prove(self, place: int, chain: Chain) -> None:
        """The first token of this prompt has come: the place has computed it, and may be held to it."""
        holding = self._holding(place)
        blocks = holding.blocks
        for block in chain.hashes:
            tokens = blocks.get(block, 0)
            if tokens < 0:
                blocks[block] = -tokens
                holding.unproven_tokens += tokens
                holding.proven_tokens -= tokens

    def limit(self, place: int, tokens_max: float) -> None:
        """The place's KV memory holds this many tokens; infinite when that is not known."""
        holding = self._holding(place)
        holding.tokens_max = tokens_max
        self._evict(holding, 1 << place)

    def trim(self, place: int, tokens: float) -> None:
        """The place holds no more than this now, besides what it has yet to compute."""
        holding = self._holding(place)
        while holding.proven_tokens > tokens:
            self._evict_one(holding, 1 << place)

    def remove(self, place: int, hashes: Iterable[int]) -> None:
        """These blocks are gone from the place; what follows them there is out of reach."""
        holding = self._holding(place)
        for block in hashes:
            tokens = holding.blocks.pop(block, None)
            if tokens is not None:
                self._drop(holding, 1 << place, block, tokens)

    def forget(self, place: int) -> None:
        """Nothing is left there. Its limit stays; the next replica of the place brings another."""
        holding, rest, masks = self._holding(place), ~(1 << place), self._masks
        for block in holding.blocks:
            left = masks[block] & rest
            if left:
                masks[block] = left
            else:
                del masks[block]
        self.entries -= len(holding.blocks)
        holding.blocks.clear()
        holding.proven_tokens = holding.unproven_tokens = 0

    def tokens(self, place: int) -> int:
        """Tokens the place is thought to hold."""
        holding = self._holding(place)
        return holding.proven_tokens + holding.unproven_tokens

    def _holding(self, place: int) -> "_Holding":
        holding = self._holdings.get(place)
        if holding is None:
            holding = self._holdings[place] = _Holding()
        return holding

    def _evict(self, holding: "_Holding", bit: int) -> None:
        while (
            len(holding.blocks) > self._blocks_max
            or holding.proven_tokens + holding.unproven_tokens > holding.tokens_max
        ):
            self._evict_one(holding, bit)

    def _evict_one(self, holding: "_Holding", bit: int) -> None:
        block, tokens = holding.blocks.popitem(last=False)
        self._drop(holding, bit, block, tokens)

    def _drop(self, holding: "_Holding", bit: int, block: int, tokens: int) -> None:
        self.entries -= 1
        if tokens < 0:
            holding.unproven_tokens += tokens
        else:
            holding.proven_tokens -= tokens
        left = self._masks[block] & ~bit
        if left:
            self._masks[block] = left
        else:
            del self._masks[block]


class _Holding:
    """What one place holds."""

    __slots__ = ("blocks", "proven_tokens", "tokens_max", "unproven_tokens")

    def __init__(self) -> None:
        # Tokens of each block, below zero until a first token has proven it computed. Oldest first.
        self.blocks: OrderedDict[int, int] = OrderedDict()
        self.proven_tokens = 0
        self.unproven_tokens = 0
        self.tokens_max = inf


@lru_cache(maxsize=1024)  # sets of 500 places are 32 KiB each
def _places(mask: int) -> frozenset[int]:
    """The bits that are set, read from their text: dividing a large number anew for each would take longer."""
    return frozenset([place for place, bit in enumerate(f"{mask:b}"[::-1]) if bit == "1"])
