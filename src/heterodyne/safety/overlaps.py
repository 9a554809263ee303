"""Findings that overlap: which of them stand."""

from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import pairwise

from msgspec import structs

from heterodyne.safety.finding import Finding, place


def resolve(findings: Iterable[Finding]) -> list[Finding]:
    """The surest findings first, then the longest; what overlaps one that was taken is left out. In order of place."""
    placed = sorted(findings, key=place)
    if all(one.end <= other.start for one, other in pairwise(placed)):
        return placed  # as nearly always
    occupied = _Spans()
    ranked = sorted(placed, key=_rank)
    return sorted((finding for finding in ranked if occupied.try_take(finding.start, finding.end)), key=place)


def covering(findings: Iterable[Finding]) -> list[Finding]:
    """The same, but of one that makes way what the others do not cover stands: all of it is to be masked."""
    ranked = sorted(findings, key=_rank)
    standing = resolve(ranked)
    if len(standing) == len(ranked):
        return standing
    for finding in ranked:
        at = finding.start
        for other in [*_touching(standing, finding), None]:
            end = finding.end if other is None else min(other.start, finding.end)
            if at < end:
                insort(standing, structs.replace(finding, start=at, end=end), key=place)
            at = at if other is None else max(at, other.end)
    return standing


def _touching(standing: list[Finding], finding: Finding) -> list[Finding]:
    """Those of findings that do not overlap that share a character with this one."""
    first = max(0, bisect_left(standing, (finding.start, finding.start), key=place) - 1)
    last = bisect_left(standing, (finding.end, finding.end), key=place)
    return [one for one in standing[first:last] if one.end > finding.start and one.start < finding.end]


def _rank(finding: Finding) -> tuple[float, int, int, str]:
    return -finding.score, finding.start - finding.end, finding.start, finding.rule


class _Spans:
    """Characters that are taken already, by blocks of 64: a span looks only at the blocks that it touches."""

    def __init__(self) -> None:
        self._blocks: dict[int, list[tuple[int, int]]] = {}

    def try_take(self, start: int, end: int) -> bool:
        blocks = range(start >> 6, (max(end - 1, start) >> 6) + 1)
        for block in blocks:
            for other_start, other_end in self._blocks.get(block, ()):
                if start < other_end and other_start < end:
                    return False
        for block in blocks:
            self._blocks.setdefault(block, []).append((start, end))
        return True
