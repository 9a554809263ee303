"""An index that grows into a graph finds what it found before."""

import numpy as np
import pytest

from heterodyne.caching.semantic.growing_index import GrowingIndex, has_graph

DIMENSIONS = 32


def test_the_nearest_are_the_same_before_and_after_it_becomes_a_graph() -> None:
    assert has_graph(), "the extra `semantic` is among what tests need"
    vectors = np.random.default_rng(7).standard_normal((300, DIMENSIONS)).astype(np.float32)
    small, grown = GrowingIndex(DIMENSIONS), GrowingIndex(DIMENSIONS, exact_max=100)
    for number, vector in enumerate(vectors):
        small.add(number, vector)
        grown.add(number, vector)
    assert len(small) == len(grown) == 300
    found = [grown.nearest(vector, 1)[0] for vector in vectors]
    assert sum(one.entry_id == number for number, one in enumerate(found)) >= 297
    assert [small.nearest(vector, 1)[0].entry_id for vector in vectors] == list(range(300))


@pytest.mark.parametrize("exact_max", [10, 1000])
def test_what_was_removed_is_not_found(exact_max: int) -> None:
    index = GrowingIndex(2, exact_max=exact_max)
    for number in range(20):
        index.add(number, np.array([1.0, number / 20], np.float32))
    index.remove(0)
    assert index.nearest(np.array([1.0, 0.0], np.float32), 1)[0].entry_id == 1
    assert len(index) == 19
