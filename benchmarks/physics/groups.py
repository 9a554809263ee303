"""Rows by group: hardware, engine and precision, dense models and mixtures apart; and which rows teach others."""

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.physics.accuracy import CALIBRATION_POINTS
from benchmarks.physics.silicon.rows import Point


def groups_of(points: Sequence[Point]) -> dict[tuple[bool, str, str, str], list[Point]]:
    """Points by kind of model, hardware, engine and precision."""
    groups: dict[tuple[bool, str, str, str], list[Point]] = defaultdict(list)
    for point in points:
        groups[(point.has_experts, *point.group)].append(point)
    return dict(sorted(groups.items()))


def teachers(points: Sequence[Point]) -> list[Point]:
    """Points of groups too small to check themselves are not taught to others either."""
    return [point for group in groups_of(points).values() if len(group) >= CALIBRATION_POINTS for point in group]
