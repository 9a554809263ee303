"""An approximate index for large fences: a graph in memory, by the extra `semantic`."""

from typing import Final

import numpy as np

from heterodyne.caching.semantic.index import Neighbour, Vector, normalised

# How many candidates are kept in view while an entry finds its place, and while a look-up walks the graph. A missed
# neighbour is a missed hit and never a wrong answer, so they are small: time is what is bounded here.
EXPANSION_ADD: Final = 48
EXPANSION_SEARCH: Final = 32


class UsearchIndex:
    """A graph of neighbours (HNSW); vectors are kept in 8 bits (`i8`) or in 16 (`f16`)."""

    def __init__(self, dimensions: int, *, dtype: str = "i8", expansion_search: int = EXPANSION_SEARCH) -> None:
        from usearch.index import Index  # noqa: PLC0415 - an extra, absent from the base install

        self._index = Index(
            ndim=dimensions,
            metric="cos",
            dtype=dtype,
            expansion_add=EXPANSION_ADD,
            expansion_search=expansion_search,
        )

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""
        # One thread: a look-up is short, and a pool of threads would wait on the other workers' cores.
        self._index.add(np.uint64(entry_id), normalised(vector), threads=1)

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use."""
        self._index.remove(entry_id, threads=1)

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones that the graph finds, the nearest first."""
        if len(self._index) == 0:
            return []
        found = self._index.search(normalised(vector), count, threads=1)
        return [
            Neighbour(int(entry_id), 1.0 - float(distance))
            for entry_id, distance in zip(found.keys, found.distances, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._index)

    @property
    def memory_bytes(self) -> int:
        """What the graph and its vectors take."""
        return int(self._index.memory_usage)
