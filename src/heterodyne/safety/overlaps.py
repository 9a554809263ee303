"""Findings that overlap: which of them stand."""

from collections.abc import Iterable
from itertools import pairwise

from heterodyne.safety.finding import Finding


def resolve(findings: Iterable[Finding]) -> list[Finding]:
    """The surest findings first, then the longest; what overlaps one that was taken is left out. In order of place."""
    placed = sorted(findings, key=_place)
    if all(one.end <= other.start for one, other in pairwise(placed)):
        return placed  # as nearly always
    occupied = _Spans()
    ranked = sorted(placed, key=_rank)
    return sorted((finding for finding in ranked if occupied.try_take(finding.start, finding.end)), key=_place)


def _place(finding: Finding) -> tuple[int, int]:
    return finding.start, finding.end


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
