"""An index that grows into a graph finds what it found before."""

import numpy as np
import pytest

from heterodyne.caching.semantic.growing_index import MOVED_AT_ONCE, GrowingIndex, has_graph

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


def test_it_becomes_a_graph_step_by_step_and_keeps_all_the_while_what_was_not_removed() -> None:
    vectors = np.random.default_rng(8).standard_normal((200, DIMENSIONS)).astype(np.float32)
    index, kept = GrowingIndex(DIMENSIONS, exact_max=100), set()
    for number, vector in enumerate(vectors):
        index.add(number, vector)
        kept.add(number)
        if number and number % 3 == 0:  # of those that wait and of those that were moved
            index.remove(number // 2)
            kept.remove(number // 2)
        assert len(index) == len(kept)
        assert index.nearest(vectors[max(kept)], 1)[0].entry_id == max(kept)
        grown = 0 if index._graph is None else len(index._graph)
        assert grown <= MOVED_AT_ONCE * max(0, number - 100)
    assert index._exact is None
    found = {index.nearest(vectors[number], 1)[0].entry_id for number in kept}
    assert len(found & kept) >= 0.98 * len(kept)
    assert not found - kept


@pytest.mark.parametrize("exact_max", [10, 1000])
def test_what_was_removed_is_not_found(exact_max: int) -> None:
    index = GrowingIndex(2, exact_max=exact_max)
    for number in range(20):
        index.add(number, np.array([1.0, number / 20], np.float32))
    index.remove(0)
    assert index.nearest(np.array([1.0, 0.0], np.float32), 1)[0].entry_id == 1
    assert len(index) == 19
