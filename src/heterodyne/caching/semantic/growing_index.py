"""An index that looks at every vector while they are few, and becomes a graph of neighbours when they are many."""

from importlib.util import find_spec
from typing import Final

from heterodyne.caching.semantic.index import ExactIndex, NearestIndex, Neighbour, Vector
from heterodyne.caching.semantic.usearch_index import UsearchIndex

EXACT_MAX: Final = 4096  # vectors that are all looked at: a millisecond or two


class GrowingIndex:
    """Most fences hold a few prompts, and one or two hold most of them."""

    def __init__(self, dimensions: int, *, exact_max: int = EXACT_MAX) -> None:
        self._dimensions = dimensions
        self._exact_max = exact_max
        self._index: NearestIndex = ExactIndex(dimensions)

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""
        known = self._index
        if isinstance(known, ExactIndex) and len(known) >= self._exact_max and has_graph():
            self._index = UsearchIndex(self._dimensions)
            for one, its_vector in known.rows():
                self._index.add(one, its_vector)
        self._index.add(entry_id, vector)

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use."""
        self._index.remove(entry_id)

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones, the nearest first."""
        return self._index.nearest(vector, count)

    def __len__(self) -> int:
        return len(self._index)


def has_graph() -> bool:
    """Whether the extra `semantic` is installed."""
    return find_spec("usearch") is not None
