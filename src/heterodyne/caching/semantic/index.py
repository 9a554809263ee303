"""The nearest vectors to a vector: what is asked of an index, and one that looks at all of them.

`ExactIndex` needs numpy alone and is right for the many fences that hold few entries. `usearch_index.py` has the one
for large fences.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Vector = npt.NDArray[np.float32]

_FIRST_ROWS: Final = 16
_BLOCK_ROWS: Final = 256  # of each matrix; to copy them all for one more would take a while


class Neighbour(Struct, frozen=True):
    """An entry near a vector."""

    entry_id: int
    cosine: float


class NearestIndex(Protocol):
    """Vectors by number; one index per fence."""

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use."""

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones, the nearest first; fewer where there are fewer."""

    def __len__(self) -> int: ...


class ExactIndex:
    """All vectors in matrices; a look-up multiplies each once."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[Vector] = []
        self._ids: list[int] = []  # of the rows in use, which are the first
        self._row_of: dict[int, int] = {}

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""
        assert entry_id not in self._row_of
        row = len(self._ids)
        if row == sum(map(len, self._blocks)):
            self._grow(row)
        self._row(row)[:] = normalised(vector)
        self._ids.append(entry_id)
        self._row_of[entry_id] = row

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use; the last row takes its place."""
        row = self._row_of.pop(entry_id)
        last = self._ids.pop()
        if last != entry_id:
            self._row(row)[:] = self._row(len(self._ids))
            self._ids[row] = last
            self._row_of[last] = row
        if len(self._ids) <= _BLOCK_ROWS * (len(self._blocks) - 2):
            self._blocks.pop()

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones, the nearest first; of equally near ones the older row."""
        if not self._ids:
            return []
        wanted = normalised(vector)
        cosines = np.concatenate([block @ wanted for block in self._blocks])[: len(self._ids)]
        if count == 1:
            rows = [int(np.argmax(cosines))]
        else:
            rows = [int(row) for row in np.argsort(-cosines, kind="stable")[:count]]
        return [Neighbour(self._ids[row], float(cosines[row])) for row in rows]

    @property
    def entry_ids(self) -> Sequence[int]:
        """The numbers in use."""
        return self._ids

    def vector(self, entry_id: int) -> Vector:
        """Of a number that is in use, at length 1."""
        return self._row(self._row_of[entry_id])

    def _grow(self, rows: int) -> None:
        """Most hold a few vectors: the first matrix is small, and doubles until it is as large as the others."""
        if 0 < rows < _BLOCK_ROWS:
            self._blocks[0] = np.concatenate([self._blocks[0], np.zeros_like(self._blocks[0])])
        else:
            size = _BLOCK_ROWS if rows else _FIRST_ROWS
            self._blocks.append(np.zeros((size, self._dimensions), np.float32))

    def _row(self, row: int) -> Vector:
        found: Vector = self._blocks[row // _BLOCK_ROWS][row % _BLOCK_ROWS]
        return found

    def __len__(self) -> int:
        return len(self._ids)


def normalised(vector: Vector) -> Vector:
    """The vector at length 1; one without a length stays as it is, near nothing."""
    length = float(np.sqrt(vector @ vector))
    scaled: Vector = (vector / length if length > 0 else vector).astype(np.float32)
    return scaled
