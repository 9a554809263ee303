"""KV outside the accelerators, by hash: a store that replicas share, or the host memory below one of them."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from math import inf


class HeldBlocks:
    """The longest unused go first, as in Redis and LMCache; a prefix is kept longer than what follows it."""

    __slots__ = ("_held", "_most", "_ttl_s")

    def __init__(self, most: int, ttl_s: float = inf) -> None:
        self._most = most  # hashes
        self._ttl_s = ttl_s
        self._held: OrderedDict[int, float] = OrderedDict()  # with the time of its last use

    def __len__(self) -> int:
        return len(self._held)

    def known(self, hashes: Sequence[int], now_s: float) -> int:
        """How many of the first are here; they count as used."""
        held = self._held
        count = 0
        for block in hashes:
            used_at_s = held.get(block)
            if used_at_s is None or now_s - used_at_s > self._ttl_s:
                break
            count += 1
        self._use(hashes[:count], now_s)
        return count

    def lacking(self, hashes: Iterable[int]) -> list[int]:
        """Those that are not here."""
        return [block for block in hashes if block not in self._held]

    def put(self, hashes: Sequence[int], now_s: float) -> None:
        """They have come in."""
        self._use(hashes, now_s)
        while len(self._held) > self._most:
            self._held.popitem(last=False)

    def _use(self, hashes: Sequence[int], now_s: float) -> None:
        for block in reversed(hashes):
            self._held[block] = now_s
            self._held.move_to_end(block)
