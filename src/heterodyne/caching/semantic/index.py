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
    """All vectors in one matrix; a look-up multiplies it once."""

    def __init__(self, dimensions: int) -> None:
        self._rows = np.zeros((_FIRST_ROWS, dimensions), np.float32)
        self._ids: list[int] = []  # of the rows in use, which are the first
        self._row_of: dict[int, int] = {}

    def add(self, entry_id: int, vector: Vector) -> None:
        """A vector under a number that is not in use."""
        assert entry_id not in self._row_of
        row = len(self._ids)
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[row] = normalised(vector)
        self._ids.append(entry_id)
        self._row_of[entry_id] = row

    def remove(self, entry_id: int) -> None:
        """Forgets a number that is in use; the last row takes its place."""
        row = self._row_of.pop(entry_id)
        last = self._ids.pop()
        if last != entry_id:
            self._rows[row] = self._rows[len(self._ids)]
            self._ids[row] = last
            self._row_of[last] = row

    def nearest(self, vector: Vector, count: int) -> list[Neighbour]:
        """The nearest ones, the nearest first; of equally near ones the older row."""
        if not self._ids:
            return []
        cosines = self._rows[: len(self._ids)] @ normalised(vector)
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
        found: Vector = self._rows[self._row_of[entry_id]]
        return found

    def __len__(self) -> int:
        return len(self._ids)


def normalised(vector: Vector) -> Vector:
    """The vector at length 1; one without a length stays as it is, near nothing."""
    length = float(np.sqrt(vector @ vector))
    scaled: Vector = (vector / length if length > 0 else vector).astype(np.float32)
    return scaled
