"""Two prompts become a set of buckets for the score: how near they are, what they share, and what differs.

Every measure is cut into steps, each step a feature of its own, so that a linear score can bend; some measures are
paired. Words that only one of the prompts has are features too: which of them change an answer is what is learned.
A hash is that of the bytes alone, the same in every process.
"""

import math
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from heterodyne.caching.semantic.reading import PromptReading
from heterodyne.caching.semantic.word_counts import WordCounts

BUCKETS: Final = 1 << 16
WORDS_MAX: Final = 16  # of each sort; two long prompts have hundreds that differ
_RUN_WORDS_MAX: Final = 64
_SWAPS_MAX: Final = 3  # words that differ on either side, for their pairs to be features
# Which steps are paired; the numbers are places in `_steps`.
_PAIRED: Final = ((0, 1), (1, 4), (1, 5), (4, 5), (3, 6), (7, 8), (1, 6), (3, 5), (2, 8), (0, 4))


def buckets(
    first: PromptReading, second: PromptReading, cosine: float, rule: str | None, counts: WordCounts
) -> list[int]:
    """The buckets that a pair fills. Which of the two is the cached one does not matter."""
    shared = first.stems & second.stems
    only_first, only_second = first.stems - second.stems, second.stems - first.stems
    steps = _steps(first, second, cosine, (shared, only_first, only_second), counts)
    names = [f"{place}={step}" for place, step in enumerate(steps)]
    names += [f"{one}&{other}={steps[one]},{steps[other]}" for one, other in _PAIRED]
    names += _kinds(first, second, rule, steps)
    names += ["-" + word for word in sorted(only_first | only_second)[:WORDS_MAX]]
    names += ["+" + word for word in sorted(shared & first.content)[:WORDS_MAX]]
    if len(only_first) <= _SWAPS_MAX and len(only_second) <= _SWAPS_MAX:
        names += [f"~{min(a, b)}|{max(a, b)}" for a in only_first for b in only_second]
    return [crc32(name.encode()) % BUCKETS for name in names]


def _steps(
    first: PromptReading,
    second: PromptReading,
    cosine: float,
    words: tuple[frozenset[str], frozenset[str], frozenset[str]],
    counts: WordCounts,
) -> list[int]:
    shared, only_first, only_second = ({word: counts.rarity(word) for word in each} for each in words)
    common = sum(value * value for value in shared.values())
    lengths = (common + sum(v * v for v in only_first.values())) * (common + sum(v * v for v in only_second.values()))
    rarest = sorted((max(only_first.values(), default=0.0), max(only_second.values(), default=0.0)))
    content = first.content & second.content
    alone = sorted((len(first.content - second.content), len(second.content - first.content)))
    return [
        _step(cosine, 24),
        _step(common / math.sqrt(lengths) if lengths > 0 else 0.0, 16),
        _step(len(content) / max(1, len(first.content | second.content)), 8),
        _step(_overlap(first.words, second.words), 12),
        int(rarest[0]),
        int(rarest[1]),
        min(len(content), 6),
        min(alone[0], 4),
        min(alone[1], 4),
    ]


def _kinds(first: PromptReading, second: PromptReading, rule: str | None, steps: Sequence[int]) -> list[str]:
    kinds = f"{min(first.kind, second.kind)}|{max(first.kind, second.kind)}"
    one, other = " ".join(first.words[:2]), " ".join(second.words[:2])
    return [
        "",  # always there: the score of a pair about which nothing is known
        f"rule {rule}",
        f"rule {rule},{steps[1]}",
        f"kinds {kinds}",
        f"kinds {kinds},{steps[1] // 2}",
        f"open {min(one, other)}|{max(one, other)}",
    ]


def _step(value: float, steps: int) -> int:
    return int(min(max(value, 0.0), 0.999) * steps)


def _overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of runs of four characters that both texts have, in which an order and a misspelling can be seen."""
    one, other = _runs(first), _runs(second)
    return len(one & other) / max(1, len(one | other))


def _runs(words: Sequence[str]) -> set[str]:
    text = " ".join(words[:_RUN_WORDS_MAX])
    return {text[start : start + 4] for start in range(len(text) - 3)}
