"""An approximate index for large fences: a graph in memory, by the extra `semantic`."""

import numpy as np

from heterodyne.caching.semantic.index import Neighbour, Vector, normalised


class UsearchIndex:
    """A graph of neighbours (HNSW); vectors are kept in 16 bits or in 8."""

    def __init__(self, dimensions: int, *, dtype: str = "f16") -> None:
        from usearch.index import Index  # noqa: PLC0415 - an extra, absent from the base install

        self._index = Index(ndim=dimensions, metric="cos", dtype=dtype)

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
