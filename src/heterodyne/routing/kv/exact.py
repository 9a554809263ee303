"""What KV events add to the index: which of what it believes is certainly gone.

An engine hashes blocks of token ids and a prompt comes as text, so its blocks cannot be found in ours. Yet it is sound
to forget a replica whose cache was cleared or whose messages were lost, and to believe in no more tokens than the
engine reports to hold (both drop what was wanted longest ago). Nothing is ever added: an event names no tenant.
"""

from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored, KvEvent
from heterodyne.routing.kv.index import PrefixIndex

Memory = tuple[int, str, int]  # rank, medium, group of layers
MEMORIES_MAX = 256  # of one engine; one that names more is not counted


class ExactBlocks:
    """Applies the events of every replica that publishes them."""

    __slots__ = ("_index", "_views")

    def __init__(self, index: PrefixIndex) -> None:
        self._index = index
        self._views: dict[int, _View] = {}

    def on_kv_event(self, place: int, event: KvEvent, rank: int | None = None) -> bool:
        """One event, in its order. True: the place's part of the index is gone, and with it what trust was based on."""
        view = self._view(place)
        if isinstance(event, BlockStored):
            view.store(event, rank or 0)
            return False
        if isinstance(event, BlockRemoved):
            view.remove(event, rank or 0)
            if view.is_whole:
                self._index.trim(place, view.tokens())
            return False
        assert isinstance(event, AllBlocksCleared)
        view.clear(rank)
        self._index.forget(place)
        return True

    def on_gap(self, place: int) -> None:
        """Messages were lost for good. What the engine holds can no longer be counted until it starts again."""
        self.on_restart(place)
        self._view(place).is_whole = False

    def on_restart(self, place: int) -> None:
        """The engine began anew, another replica has taken the place, or its events begin to be read."""
        self._views[place] = _View()
        self._index.forget(place)

    def leave(self, place: int) -> None:
        """The replica has left; its place has no events until another takes it."""
        self._views.pop(place, None)

    def tokens(self, place: int) -> int | None:
        """Tokens the engine holds by its own events; None: not known."""
        view = self._views.get(place)
        return view.tokens() if view is not None and view.is_whole else None

    def _view(self, place: int) -> "_View":
        view = self._views.get(place)
        if view is None:
            view = self._views[place] = _View()
        return view


class _View:
    """One engine's cache. Counting needs no list of its blocks, which may be a million."""

    __slots__ = ("_block_tokens", "_blocks", "is_whole")

    def __init__(self) -> None:
        self.is_whole = True  # every message since the engine started has been seen
        self._blocks: dict[Memory, int] = {}
        self._block_tokens: dict[Memory, int] = {}

    def store(self, event: BlockStored, rank: int) -> None:
        memory = _memory(event, rank)
        if memory not in self._block_tokens and len(self._block_tokens) >= MEMORIES_MAX:
            self.is_whole = False
            return
        self._blocks[memory] = self._blocks.get(memory, 0) + len(event.hashes)
        self._block_tokens[memory] = event.block_tokens

    def remove(self, event: BlockRemoved, rank: int) -> None:
        memory = _memory(event, rank)
        if memory in self._blocks:
            self._blocks[memory] = max(0, self._blocks[memory] - len(event.hashes))

    def clear(self, rank: int | None) -> None:
        self._blocks = {memory: blocks for memory, blocks in self._blocks.items() if memory[0] != (rank or 0)}
        self.is_whole = self.is_whole or rank is None  # of the other ranks nothing is known

    def tokens(self) -> int:
        """At most: groups of layers hold the same tokens, media and ranks may hold different ones."""
        most: dict[tuple[int, str], int] = {}
        for memory, blocks in self._blocks.items():
            tokens = blocks * self._block_tokens[memory]
            most[memory[:2]] = max(tokens, most.get(memory[:2], 0))
        return sum(most.values())


def _memory(event: BlockStored | BlockRemoved, rank: int) -> Memory:
    return rank, event.medium or "", event.group or 0
