"""Which parts of a long text are scored: overlapping windows, never more than a bound."""

from collections.abc import Iterable, Iterator
from typing import Final

CHARACTERS: Final = 1_000  # of a window: as long as what the weights were trained on
STRIDE: Final = 700
WINDOWS_MAX: Final = 48


def spans(length: int, marks: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
    """Start and end of the windows of a text of `length` characters, in their order.

    Where there would be more than `WINDOWS_MAX`, these are left: the first and the last, those at `marks` (where a
    rule found something) up to half of the bound, and the rest spread evenly. So a long text costs no more than a
    bounded one, and what lies between is left to the rules, which read everything.
    """
    count = max(1, -(-(length - CHARACTERS) // STRIDE) + 1)
    for index in range(count) if count <= WINDOWS_MAX else _chosen(count, marks):
        start = max(0, min(index * STRIDE, length - CHARACTERS))
        yield start, min(length, start + CHARACTERS)


def _chosen(count: int, marks: Iterable[int]) -> list[int]:
    chosen = {0, count - 1}
    for mark in marks:
        if len(chosen) >= WINDOWS_MAX // 2:
            break
        chosen.add(min(mark // STRIDE, count - 1))
    free = WINDOWS_MAX - len(chosen)
    chosen.update(index * count // free for index in range(free))
    return sorted(chosen)
