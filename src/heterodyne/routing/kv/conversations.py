"""Prompts that were sent lately, as conversations: what many of them begin with, and whether one is likely to go on.

A prompt that continues another takes its place. Nothing but hashes is kept, and nothing here is asked on the way of a
request; what many begin with is worked out when somebody wants to know.
"""

from collections import OrderedDict
from heapq import heapify, heappop, heappush
from math import log2
from typing import Final, final

from heterodyne.routing.kv.chain import Chain

CONVERSATIONS_MAX: Final = 1024
HALF_LIFE_S: Final = 600.0  # of what a prompt says of those to come
GAPS: Final = 16  # powers of two seconds between two turns, the last for all that are longer
SHARED_MIN: Final = 1.5  # prompts that begin alike, so that the beginning counts as one of its own


@final
class KvConversation:
    """The latest prompt of it."""

    __slots__ = ("chain", "model", "replica", "turns", "wanted_s")

    def __init__(self, model: str, chain: Chain, replica: str, turns: int, wanted_s: float) -> None:
        self.model = model
        self.chain = chain
        self.replica = replica  # where it was sent
        self.turns = turns
        self.wanted_s = wanted_s

    @property
    def tokens(self) -> int:
        """Of its whole blocks."""
        return self.chain.ends[-1]


@final
class HotPrefix:
    """What many prompts begin with, or one."""

    __slots__ = ("chain", "wants")

    def __init__(self, chain: Chain, wants: float) -> None:
        self.chain = chain
        self.wants = wants  # prompts that began with it lately; older ones count less

    @property
    def tokens(self) -> int:
        return self.chain.ends[-1]


class Conversations:
    """Those seen last."""

    __slots__ = ("_by_tail", "_conversations_max", "_ended", "_gaps")

    def __init__(self, conversations_max: int = CONVERSATIONS_MAX) -> None:
        self._by_tail: OrderedDict[int, KvConversation] = OrderedDict()
        self._conversations_max = conversations_max
        self._gaps = [0.0] * GAPS  # turns that came so long after the one before
        self._ended = 0.0  # conversations that were dropped without another turn

    def __len__(self) -> int:
        return len(self._by_tail)

    def note(self, model: str, chain: Chain, replica: str, now_s: float) -> None:
        """A prompt was sent there."""
        if not chain.hashes:
            return
        before: KvConversation | None = None
        for block in reversed(chain.hashes):
            before = self._by_tail.pop(block, None)
            if before is not None:
                break
        turns = 1
        if before is not None:
            turns = before.turns + 1
            self._gaps[_bucket(now_s - before.wanted_s)] += 1.0
        self._by_tail[chain.hashes[-1]] = KvConversation(model, chain, replica, turns, now_s)
        if len(self._by_tail) > self._conversations_max:
            self._by_tail.popitem(last=False)
            self._ended += 1.0

    def of(self, model: str) -> list[KvConversation]:
        """Of this model, the latest first."""
        return [one for one in reversed(self._by_tail.values()) if one.model == model]

    def returning(self, idle_s: float, within_s: float) -> float:
        """The chance that a conversation which has been silent for so long goes on within so much more time."""
        # A bucket that is partly past counts by its share in logarithms.
        gone = self._before(idle_s)
        soon = self._before(idle_s + within_s) - gone
        left = sum(self._gaps) + self._ended + len(self._by_tail) - gone
        return min(1.0, soon / left) if left > 0.0 else 0.0

    def hottest(self, model: str, count: int, now_s: float) -> list[HotPrefix]:
        """The prefixes that would have saved most tokens lately, given that those before them are there, too."""
        weights: dict[int, float] = {}
        known = self.of(model)
        for one in known:
            weight = _left(now_s - one.wanted_s)
            for block in one.chain.hashes:
                weights[block] = weights.get(block, 0.0) + weight
        found: dict[int, HotPrefix] = {}
        for one in known:
            _branches(one.chain, weights, found)
        # Greedy: what is chosen covers its part of those that go on from it.
        heap = [(-prefix.wants * prefix.tokens, block) for block, prefix in found.items()]
        heapify(heap)
        chosen: list[HotPrefix] = []
        covered: dict[int, int] = {}  # tokens, by every block of what is chosen
        while heap and len(chosen) < count:
            gain, block = heappop(heap)
            prefix = found[block]
            now = -prefix.wants * (prefix.tokens - _covered(prefix.chain, covered))
            if now >= 0.0:
                continue
            if now > gain + 1e-9:
                heappush(heap, (now, block))
                continue
            chosen.append(prefix)
            covered.update(zip(prefix.chain.hashes, prefix.chain.ends, strict=True))
        return chosen

    def _before(self, seconds: float) -> float:
        """Turns that came sooner than that after the one before."""
        place = _place(seconds)
        whole = int(place)
        if whole >= GAPS:
            return sum(self._gaps)
        return sum(self._gaps[:whole]) + (place - whole) * self._gaps[whole]


def _branches(chain: Chain, weights: dict[int, float], found: dict[int, HotPrefix]) -> None:
    """Where fewer prompts go on than have come this far, and the end."""
    hashes, ends = chain
    last = len(hashes) - 1
    for index, block in enumerate(hashes):
        if block in found:
            continue
        weight = weights[block]
        follows = weights[hashes[index + 1]] if index < last else 0.0
        if index == last or (weight >= SHARED_MIN and follows < weight - 1e-9):
            found[block] = HotPrefix(Chain(hashes[: index + 1], ends[: index + 1]), weight)


def _covered(chain: Chain, covered: dict[int, int]) -> int:
    for block in reversed(chain.hashes):
        tokens = covered.get(block)
        if tokens is not None:
            return tokens
    return 0


def _place(seconds: float) -> float:
    """On the scale of gaps."""
    return min(float(GAPS), log2(1.0 + seconds)) if seconds > 0.0 else 0.0


def _bucket(seconds: float) -> int:
    return min(GAPS - 1, int(_place(seconds)))


def _left(seconds: float) -> float:
    return 1.0 if seconds <= 0.0 else pow(0.5, seconds / HALF_LIFE_S)
