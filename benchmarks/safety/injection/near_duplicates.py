"""Texts that are nearly the same count once, so that none is trained on in one source and tested in another.

Two texts are near-duplicates when at least half of the shorter one's runs of five words are in the other one too.
Near-duplicates of near-duplicates are of one group. One text of a group stays: of the source that has the fewest. A
source whose rows share documents by design keeps all of its rows, and the others lose theirs.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from benchmarks.safety.injection.sources import Sample

RUN = 5
SHARE = 0.5
COMMON = 200  # a run of words that more texts have is a phrase of the language


def thinned(samples: Sequence[Sample], whole: str) -> list[Sample]:
    """One sample of each group, or all of it that are of the source `whole`, in the order that they came."""
    sizes = Counter(sample.source for sample in samples)
    groups: dict[int, list[int]] = defaultdict(list)
    for index, group in enumerate(_groups([_runs(sample.text) for sample in samples])):
        groups[group].append(index)
    kept: set[int] = set()
    for members in groups.values():
        first = min(members, key=lambda index: (sizes[samples[index].source], index))
        kept |= {index for index in members if samples[index].source == whole} or {first}
    return [sample for index, sample in enumerate(samples) if index in kept]


def apart_from(samples: Sequence[Sample], others: Sequence[Sample]) -> list[Sample]:
    """The samples that are no near-duplicate of any of the others."""
    runs = [_runs(sample.text) for sample in (*others, *samples)]
    holders = _holders(runs)
    return [
        sample
        for index, sample in enumerate(samples, len(others))
        if not any(other < len(others) for other in _alike(index, runs, holders))
    ]


def _runs(text: str) -> frozenset[int]:
    words = re.findall(r"\w+", text.lower())
    if len(words) < RUN:
        return frozenset([hash_of(words)])
    return frozenset(hash_of(words[start : start + RUN]) for start in range(len(words) - RUN + 1))


def hash_of(words: Sequence[str]) -> int:
    """A number of the words, the same in every process."""
    value = 0
    for byte in " ".join(words).encode():
        value = (value * 0x100000001B3 + byte + 1) & 0xFFFFFFFFFFFFFFFF
    return value


def _holders(runs: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    holders: dict[int, list[int]] = defaultdict(list)
    for index, own in enumerate(runs):
        for run in own:
            holders[run].append(index)
    return {run: found for run, found in holders.items() if 1 < len(found) <= COMMON}


def _alike(index: int, runs: Sequence[frozenset[int]], holders: dict[int, list[int]]) -> list[int]:
    shared = Counter(other for run in runs[index] for other in holders.get(run, ()) if other != index)
    return [other for other, count in shared.items() if count >= SHARE * min(len(runs[index]), len(runs[other]))]


def _groups(runs: Sequence[frozenset[int]]) -> list[int]:
    """For each text the first text of its group."""
    leaders = list(range(len(runs)))

    def leader(index: int) -> int:
        while leaders[index] != index:
            leaders[index] = leaders[leaders[index]]
            index = leaders[index]
        return index

    holders = _holders(runs)
    for index in range(len(runs)):
        for other in _alike(index, runs, holders):
            first, second = sorted((leader(index), leader(other)))
            leaders[second] = first
    return [leader(index) for index in range(len(runs))]
