"""Numbers of the request path that are added up before they go to their meter's cell, which is when it is read.

A cell is a list, and a number in a list is an object: to add to it makes a new one. A tally's own are plain numbers
where this file is compiled, and a histogram's remembers the bucket of its last value, in which the next mostly falls.
"""

from bisect import bisect_left
from typing import Final, final

INFINITE: Final = float("inf")


@final
class CountTally:
    """Of a counter."""

    __slots__ = ("_amount", "_cell")

    def __init__(self, cell: list[float]) -> None:
        self._cell = cell
        self._amount = 0.0

    def add(self, amount: float) -> None:
        self._amount += amount

    def settle(self) -> None:
        """Put what was added into the cell."""
        self._cell[0] += self._amount
        self._amount = 0.0


@final
class HistogramTally:
    """Of a histogram."""

    __slots__ = ("_above", "_bounds", "_bucket", "_cell", "_count", "_sum", "_up_to")

    def __init__(self, cell: list[float], bounds: tuple[float, ...]) -> None:
        self._cell = cell
        self._bounds = bounds
        self._bucket = 0
        self._above, self._up_to = INFINITE, -INFINITE  # nothing is within
        self._count = self._sum = 0.0

    def add(self, value: float) -> None:
        if not self._above < value <= self._up_to:
            self._move_to(value)
        self._count += 1.0
        self._sum += value

    def settle(self) -> None:
        """Put what was added into the cell."""
        self._cell[self._bucket] += self._count
        self._cell[-1] += self._sum
        self._count = self._sum = 0.0

    def _move_to(self, value: float) -> None:
        """The bucket of this value; what was counted for another is settled."""
        self.settle()
        bounds = self._bounds
        bucket = bisect_left(bounds, value)
        self._bucket = bucket
        self._above = bounds[bucket - 1] if bucket > 0 else -INFINITE
        self._up_to = bounds[bucket] if bucket < len(bounds) else INFINITE
