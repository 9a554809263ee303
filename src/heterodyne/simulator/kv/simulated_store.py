"""A store that replicas share, as it really is: how fast it is and what it holds."""

from collections.abc import Sequence
from typing import Final

from heterodyne.simulator.kv.held_blocks import HeldBlocks
from heterodyne.simulator.kv.transfers import Port

WRITES_MAX: Final = 64  # at once; what comes beyond is not written


class SimulatedStore:
    """Reads and writes have a port each."""

    def __init__(self, held: HeldBlocks, reads: Port, writes: Port) -> None:
        self.held = held
        self.reads = reads
        self.writes = writes
        self._coming: set[int] = set()

    def try_begin_write(self, blocks: Sequence[int]) -> list[int]:
        """Those that it has not and that are not on their way; none where too much is."""
        if self.writes.busy >= WRITES_MAX:
            return []
        fresh = [block for block in self.held.lacking(blocks) if block not in self._coming]
        self._coming.update(fresh)
        return fresh

    def end_write(self, blocks: Sequence[int], now_s: float) -> None:
        """They have come in."""
        self._coming.difference_update(blocks)
        self.held.put(blocks, now_s)


class StoreWrite:
    """Blocks on their way to a store."""

    __slots__ = ("blocks", "store")

    def __init__(self, store: SimulatedStore, blocks: tuple[int, ...]) -> None:
        self.store = store
        self.blocks = blocks
