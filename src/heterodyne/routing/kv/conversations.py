"""Prompts that were sent lately, as conversations, and what many of them begin with.

A prompt that goes on from another takes its place, unless many were like that one. Nothing but hashes is kept, and
nothing here is asked on the way of a request; what many begin with is worked out when somebody wants to know.
"""

from collections import OrderedDict
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final, final

from heterodyne.routing.kv.chain import Chain

CONVERSATIONS_MAX: Final = 256
BLOCKS_MAX: Final = 16_384  # of all of them: some 1.3 MB
HALF_LIFE_S: Final = 600.0  # of what a prompt says of those to come
SHARED_MIN: Final = 1.5  # prompts that begin alike, so that the beginning counts as one of its own
ROUNDING: Final = 1e-9


@final
class KvConversation:
    """The latest prompt of it."""

    __slots__ = ("chain", "model", "wanted_s", "wants")

    def __init__(self, model: str, chain: Chain, wants: float, wanted_s: float) -> None:
        self.model = model
        self.chain = chain
        self.wants = wants  # prompts of the very same blocks until then; older ones count less
        self.wanted_s = wanted_s


@final
class HotPrefix:
    """What many prompts begin with, or one."""

    __slots__ = ("chain", "wants")

    def __init__(self, chain: Chain, wants: float) -> None:
        self.chain = chain
        self.wants = wants  # prompts that began with it lately; older ones count less

    @property
    def tokens(self) -> int:
        """Of its whole blocks."""
        return self.chain.ends[-1]


@final
class Conversations:
    """Those seen last."""

    __slots__ = ("_blocks", "_by_tail", "_conversations_max")

    def __init__(self, conversations_max: int = CONVERSATIONS_MAX) -> None:
        self._by_tail: OrderedDict[int, KvConversation] = OrderedDict()
        self._conversations_max = conversations_max
        self._blocks = 0

    def __len__(self) -> int:
        return len(self._by_tail)

    def note(self, model: str, chain: Chain, now_s: float) -> None:
        """A prompt of one block or more was sent."""
        hashes, by_tail = chain.hashes, self._by_tail
        wants, tail = 1.0, hashes[-1]
        for block in reversed(hashes):
            before = by_tail.get(block)
            if before is not None:
                again = before.wants * _left(now_s - before.wanted_s)
                if block == tail:
                    wants += again
                if block == tail or again < SHARED_MIN:
                    del by_tail[block]
                    self._blocks -= len(before.chain.hashes)
                break
        by_tail[tail] = KvConversation(model, chain, wants, now_s)
        self._blocks += len(hashes)
        while len(by_tail) > self._conversations_max or self._blocks > BLOCKS_MAX:
            _, oldest = by_tail.popitem(last=False)
            self._blocks -= len(oldest.chain.hashes)

    def of(self, model: str) -> list[KvConversation]:
        """Those of the model, the latest first. None of them changes later."""
        return [one for one in reversed(self._by_tail.values()) if one.model == model]

    def by_model(self) -> dict[str, list[KvConversation]]:
        """All of them, in the same order."""
        known: dict[str, list[KvConversation]] = {}
        for one in reversed(self._by_tail.values()):
            known.setdefault(one.model, []).append(one)
        return known


def hottest_of(known: Sequence[KvConversation], count: int, now_s: float) -> list[HotPrefix]:
    """The prefixes that would have saved most tokens lately, given that those before them are there, too.

    For whoever has another thread to work it out in: of many long ones it takes long.
    """
    weights: dict[int, float] = {}
    for one in known:
        weight = one.wants * _left(now_s - one.wanted_s)
        for block in one.chain.hashes:
            weights[block] = weights.get(block, 0.0) + weight
    found: dict[int, HotPrefix] = {}
    for one in known:
        _branches(one.chain, weights, found)
    return _greedy(found, count)


def _greedy(found: dict[int, HotPrefix], count: int) -> list[HotPrefix]:
    """By what each adds: what is chosen covers its part of those that go on from it."""
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
        if now > gain + ROUNDING:
            heappush(heap, (now, block))
            continue
        chosen.append(prefix)
        covered.update(zip(prefix.chain.hashes, prefix.chain.ends, strict=True))
    return chosen


def _branches(chain: Chain, weights: dict[int, float], found: dict[int, HotPrefix]) -> None:
    """Where fewer prompts go on than have come this far, and the end."""
    hashes, ends = chain
    last = len(hashes) - 1
    for index, block in enumerate(hashes):
        if block in found:
            continue
        weight = weights[block]
        follows = weights[hashes[index + 1]] if index < last else 0.0
        if index == last or (weight >= SHARED_MIN and follows < weight - ROUNDING):
            found[block] = HotPrefix(Chain(hashes[: index + 1], ends[: index + 1]), weight)


def _covered(chain: Chain, covered: dict[int, int]) -> int:
    for block in reversed(chain.hashes):
        tokens = covered.get(block)
        if tokens is not None:
            return tokens
    return 0


def _left(seconds: float) -> float:
    return 1.0 if seconds <= 0.0 else float(pow(0.5, seconds / HALF_LIFE_S))
