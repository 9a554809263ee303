"""An index that looks at every vector while they are few, and becomes a graph of neighbours when they are many."""

from importlib.util import find_spec
from itertools import islice
from typing import Final

from heterodyne.caching.semantic.index import ExactIndex, Neighbour, Vector
from heterodyne.caching.semantic.usearch_index import UsearchIndex

EXACT_MAX: Final = 4096  # vectors that are all looked at: a millisecond or two
MOVED_AT_ONCE: Final = 8  # vectors that go into the graph with each that is added: all at once would take a second


class GrowingIndex:
    """Most fences hold a few prompts, and one or two hold most of them."""

    def __init__(self, dimensions: int, *, exact_max: int = EXACT_MAX) -> None:
        self._dimensions = dimensions
        self._exact_max = exact_max
        self._exact: ExactIndex | None = ExactIndex(dimensions)  # None: the graph has all of them
        self._graph: UsearchIndex | None = None
        self._waiting: dict[int, None] = {}  # numbers that the graph has not yet, the first of them first

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""
        if self._exact is None:
            assert self._graph is not None
            self._graph.add(entry_id, vector)
            return
        self._exact.add(entry_id, vector)
        if self._graph is not None:
            self._waiting[entry_id] = None
            self._move(self._exact, self._graph)
        elif len(self._exact) > self._exact_max and has_graph():
            self._graph = UsearchIndex(self._dimensions)
            self._waiting = dict.fromkeys(self._exact.entry_ids)

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use."""
        if self._exact is not None:
            self._exact.remove(entry_id)
        if self._graph is not None and entry_id not in self._waiting:
            self._graph.remove(entry_id)
        self._waiting.pop(entry_id, None)

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones, the nearest first."""
        index = self._exact if self._exact is not None else self._graph
        return [] if index is None else index.nearest(vector, count)

    def __len__(self) -> int:
        index = self._exact if self._exact is not None else self._graph
        return 0 if index is None else len(index)

    def _move(self, exact: ExactIndex, graph: UsearchIndex) -> None:
        for entry_id in tuple(islice(self._waiting, MOVED_AT_ONCE)):
            graph.add(entry_id, exact.vector(entry_id))
            del self._waiting[entry_id]
        if not self._waiting:
            self._exact = None


def load_graph() -> None:
    """Have it ready, where it is installed: reading its library takes a tenth of a second of the loop."""
    if has_graph():
        import usearch.index  # noqa: F401, PLC0415 - an extra, absent from the base install


def has_graph() -> bool:
    """Whether the extra `semantic` is installed."""
    return find_spec("usearch") is not None
