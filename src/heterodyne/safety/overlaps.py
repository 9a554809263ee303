"""Findings that overlap: which of them stand."""

from collections.abc import Iterable

from heterodyne.safety.finding import Finding


def resolve(findings: Iterable[Finding]) -> list[Finding]:
    """The surest findings first, then the longest; what overlaps one that was taken is left out. In order of place."""
    ranked = sorted(findings, key=_rank)
    if len(ranked) < 2:
        return ranked
    occupied = _Spans()
    return sorted(finding for finding in ranked if occupied.try_take(finding.start, finding.end))


def _rank(finding: Finding) -> tuple[float, int, int, str]:
    return -finding.score, finding.start - finding.end, finding.start, finding.rule


class _Spans:
    """Characters that are taken already, by blocks of 64: a span looks only at the blocks that it touches."""

    def __init__(self) -> None:
        self._blocks: dict[int, list[tuple[int, int]]] = {}

    def try_take(self, start: int, end: int) -> bool:
        blocks = range(start >> 6, (max(end - 1, start) >> 6) + 1)
        for block in blocks:
            if any(start < other_end and other_start < end for other_start, other_end in self._blocks.get(block, ())):
                return False
        for block in blocks:
            self._blocks.setdefault(block, []).append((start, end))
        return True
