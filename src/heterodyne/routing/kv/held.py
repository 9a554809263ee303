"""What is held outside of accelerators: in stores that replicas share, and in the memory of each replica's host.

A tier is an index of blocks by the same chained hashes as the one of replicas, so the tenant's salt and everything
before a block are part of its name; what the KV is made of is part of it, too. Where a tier is full, what saves the
fewest dollars for each byte goes first. A block is worth what computing it would cost, times how often it was wanted,
and older wishes count less (by the greedy dual rule: what is dropped raises what newcomers begin with). As a beginning
is wanted at least as often as its ends, ends go first. What many sessions want is kept whatever comes.
"""

from collections import OrderedDict
from hashlib import sha256
from heapq import heapify, heappop, heappush
from math import inf
from typing import Final, final
from zlib import crc32

from heterodyne.routing.kv.chain import NUMBER_MAX, Chain

BLOCKS_MAX: Final = 65_536  # of one tier, however much it holds
LAYOUTS_MAX: Final = 4096  # whose numbers are remembered
SESSIONS_PIN: Final = 8  # that want a block: from there on it is pinned
PINNED_SHARE_MAX: Final = 0.5  # of a tier
STALE_SHARE: Final = 4  # entries of the heap for each block, before it is made anew
HOUR_S: Final = 3600.0


@final
class HeldBlock:
    """One block in one tier."""

    __slots__ = ("byte_count", "followers", "is_pinned", "sessions", "usd", "wanted_s", "worth")

    def __init__(self, byte_count: float, usd: float) -> None:
        self.byte_count = byte_count
        self.usd = usd  # for each byte, that not computing it saves once
        self.worth = 0.0
        self.wanted_s = 0.0
        self.followers = 0  # blocks after it in the prompt that wanted it last
        self.sessions = 0  # a bit for each of them, by its hash
        self.is_pinned = False


class KvTier:
    """One store, or one host's memory."""

    __slots__ = (
        *("_blocks", "_blocks_max", "_byte_limit", "_heap", "_layouts", "_level", "_pinned_bytes", "_ttl_s"),
        *("_usd_per_byte_s", "byte_count"),
    )

    def __init__(
        self,
        byte_limit: float,
        *,
        ttl_s: float = inf,
        usd_per_gb_hour: float = 0.0,
        blocks_max: int = BLOCKS_MAX,
    ) -> None:
        self._byte_limit = byte_limit
        self._ttl_s = ttl_s
        self._usd_per_byte_s = usd_per_gb_hour / 1e9 / HOUR_S
        self._blocks_max = blocks_max
        self._blocks: OrderedDict[int, HeldBlock] = OrderedDict()  # wanted longest ago first
        self._heap: list[tuple[float, float, int, int]] = []  # worth, when it was wanted, blocks after it, block
        self._level = 0.0  # the worth of what was dropped last
        self._pinned_bytes = 0.0
        self._layouts: dict[str, int] = {}
        self.byte_count = 0.0

    def tokens(self, layout: str, chain: Chain, now_s: float) -> int:
        """How much of the prompt it holds, from its beginning."""
        own, held_as, reached = self._number(layout), self._blocks.get, 0
        oldest_s = now_s - self._ttl_s
        is_free = self._usd_per_byte_s <= 0.0  # then nothing goes sooner than that
        for block, end in zip(chain.hashes, chain.ends, strict=True):
            held = held_as(block ^ own)
            if held is None or held.wanted_s < oldest_s:
                break
            if not is_free and now_s - held.wanted_s > self._kept_s(held.usd):
                break
            reached = end
        return reached

    def insert(
        self, layout: str, chain: Chain, *, token_bytes: float, token_usd: float, session: str, now_s: float
    ) -> None:
        """A prompt was computed, or read from here: all of it is here now, and wanted once more."""
        own, blocks = self._number(layout), self._blocks
        usd = token_usd / token_bytes if token_bytes > 0.0 else 0.0
        bit = 1 << (crc32(session.encode()) & 63) if session else 1 << (chain.hashes[-1] & 63) if chain.hashes else 0
        before, followers = 0, len(chain.hashes)
        for block, end in zip(chain.hashes, chain.ends, strict=True):
            key = block ^ own
            held = blocks.get(key)
            if held is None:
                held = blocks[key] = HeldBlock(max(1, end - before) * token_bytes, usd)
                self.byte_count += held.byte_count
            else:
                blocks.move_to_end(key)
            before, followers = end, followers - 1
            held.usd, held.wanted_s, held.followers = usd, now_s, followers
            held.worth = max(held.worth, self._level) + usd
            held.sessions |= bit
            self._pin(held)
            heappush(self._heap, (held.worth, now_s, followers, key))
        self._drop_old(now_s)
        while self._blocks and (self.byte_count > self._byte_limit or len(self._blocks) > self._blocks_max):
            self._drop_least()
        if len(self._heap) > STALE_SHARE * len(self._blocks) + STALE_SHARE:
            self._heap = [(held.worth, held.wanted_s, held.followers, key) for key, held in self._blocks.items()]
            heapify(self._heap)

    def remove(self, layout: str, chain: Chain) -> None:
        """It was asked for this prompt and did not have it: nothing of it is believed any more."""
        own = self._number(layout)
        for block in chain.hashes:
            self._drop(block ^ own)

    def clear(self) -> None:
        """It has lost everything."""
        self._blocks.clear()
        self._heap.clear()
        self.byte_count = self._pinned_bytes = 0.0

    @property
    def entries(self) -> int:
        """Blocks."""
        return len(self._blocks)

    @property
    def pinned_bytes(self) -> float:
        """Of what many sessions want."""
        return self._pinned_bytes

    def _kept_s(self, usd: float) -> float:
        """Keeping a byte may cost as much as computing it once more would: who knows whether it is wanted again."""
        if self._usd_per_byte_s <= 0.0:
            return self._ttl_s
        return min(self._ttl_s, usd / self._usd_per_byte_s)

    def _pin(self, held: HeldBlock) -> None:
        if held.is_pinned or held.sessions.bit_count() < SESSIONS_PIN:
            return
        if self._pinned_bytes + held.byte_count <= PINNED_SHARE_MAX * self._byte_limit:
            held.is_pinned = True
            self._pinned_bytes += held.byte_count

    def _drop_old(self, now_s: float) -> None:
        while self._blocks:
            key = next(iter(self._blocks))
            held = self._blocks[key]
            if now_s - held.wanted_s <= self._kept_s(held.usd):
                return
            self._drop(key)

    def _drop_least(self) -> None:
        """The least worth of those that are not pinned; of what is left then, the one wanted longest ago."""
        while self._heap:
            worth, _, _, key = heappop(self._heap)
            held = self._blocks.get(key)
            if held is not None and held.worth == worth and not held.is_pinned:
                self._level = worth
                self._drop(key)
                return
        self._drop(next(iter(self._blocks)))

    def _drop(self, key: int) -> None:
        held = self._blocks.pop(key, None)
        if held is not None:
            self.byte_count = max(0.0, self.byte_count - held.byte_count)
            if held.is_pinned:
                self._pinned_bytes = max(0.0, self._pinned_bytes - held.byte_count)

    def _number(self, layout: str) -> int:
        """What sets apart the blocks of one layout."""
        number = self._layouts.get(layout)
        if number is None:
            if len(self._layouts) >= LAYOUTS_MAX:
                self._layouts.clear()
            number = self._layouts[layout] = _hash(layout)
        return number


def _hash(text: str) -> int:
    """The same in every process."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little") & NUMBER_MAX
