"""Fences, their indexes, and what makes an entry go."""

from collections.abc import Callable

import numpy as np
import pytest

from heterodyne.caching.semantic.entries import SemanticEntries, SemanticEntry
from heterodyne.caching.semantic.index import ExactIndex, NearestIndex
from heterodyne.caching.semantic.reading import read
from heterodyne.caching.semantic.usearch_index import UsearchIndex

INDEXES = (ExactIndex, UsearchIndex)


def vector(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(16).astype(np.float32)


def entry(**changed: object) -> SemanticEntry:
    values = {"answer_key": b"a", "reading": read("hello"), "model_version": "m@1", "expires_at_s": 100.0}
    return SemanticEntry(**(values | changed))  # type: ignore[arg-type]


def entries(entries_max: int = 100) -> SemanticEntries:
    return SemanticEntries(entries_max=entries_max, make_index=lambda: ExactIndex(16))


@pytest.mark.parametrize("make", INDEXES)
def test_an_index_finds_what_a_look_at_all_finds(make: Callable[[int], NearestIndex]):
    index, kept = make(16), {}
    for number in range(120):
        kept[number] = vector(number)
        index.add(number, kept[number])
    for number in range(0, 120, 3):
        index.remove(number)
        del kept[number]
    assert len(index) == 80
    for seed in range(200, 220):
        wanted = vector(seed)
        cosines = {n: float(v @ wanted / np.linalg.norm(v) / np.linalg.norm(wanted)) for n, v in kept.items()}
        best = sorted(cosines, key=lambda n: -cosines[n])[:3]
        found = index.nearest(wanted, 3)
        # Of entries that are equally near but for the rounding of an approximate index, either may be found.
        assert [cosines[each.entry_id] for each in found] == pytest.approx([cosines[n] for n in best], abs=0.02)
        assert [each.cosine for each in found] == pytest.approx([cosines[n] for n in best], abs=0.02)


@pytest.mark.parametrize("make", INDEXES)
def test_an_empty_index_finds_nothing(make: Callable[[int], NearestIndex]):
    assert make(16).nearest(vector(1), 1) == []


def test_a_vector_without_length_is_near_nothing():
    index = ExactIndex(4)
    index.add(1, np.zeros(4, np.float32))
    assert index.nearest(np.ones(4, np.float32), 1)[0].cosine == 0


def test_a_fence_never_sees_another():
    held = entries()
    held.add(b"one", vector(1), entry())
    assert held.nearest(b"two", vector(1), model_version="m@1", now_s=0.0) is None
    found = held.nearest(b"one", vector(1), model_version="m@1", now_s=0.0)
    assert found is not None
    assert found.cosine == pytest.approx(1.0)


def test_what_has_ended_is_passed_over_and_forgotten():
    held = entries()
    held.add(b"f", vector(1), entry(expires_at_s=10.0))
    second = held.add(b"f", vector(2), entry())
    found = held.nearest(b"f", vector(1), model_version="m@1", now_s=10.0)
    assert found is not None
    assert found.entry_id == second
    assert len(held) == 1


def test_another_version_of_the_model_has_no_entries():
    held = entries()
    held.add(b"f", vector(1), entry())
    assert held.nearest(b"f", vector(1), model_version="m@2", now_s=0.0) is None
    assert (len(held), held.fences) == (0, 0)


def test_what_was_used_longest_ago_makes_room():
    held = entries(entries_max=2)
    held.add(b"f", vector(1), entry(answer_key=b"1"))
    held.add(b"g", vector(2), entry(answer_key=b"2"))
    held.nearest(b"f", vector(1), model_version="m@1", now_s=0.0)
    held.add(b"f", vector(3), entry(answer_key=b"3"))
    assert (len(held), held.fences) == (2, 1)
    assert held.nearest(b"g", vector(2), model_version="m@1", now_s=0.0) is None


def test_entries_go_by_tag_by_version_and_by_time():
    held = entries()
    held.add(b"f", vector(1), entry(tags=frozenset({"news", "eu"})))
    held.add(b"f", vector(2), entry(model_version="m@0"))
    held.add(b"g", vector(3), entry(expires_at_s=5.0))
    held.add(b"g", vector(4), entry())
    assert [held.remove_tag("news"), held.remove_tag("news")] == [1, 0]
    assert held.remove_version("m@0") == 1
    assert held.remove_ended(5.0) == 1
    assert len(held) == 1
