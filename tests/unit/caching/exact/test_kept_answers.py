"""Answers are kept within a bound, for their time, for those who may have them."""

from heterodyne.caching.entry import CachedAnswer
from heterodyne.caching.exact.kept_answers import ENTRY_BYTES, KeptAnswers


def answer(name: str, *, size: int = 100, until_s: float = 10.0) -> CachedAnswer:
    return CachedAnswer(
        key=name.encode(), fence=b"f", model_version="m@1", stored_at_s=0.0, expires_at_s=until_s, body=bytes(size)
    )


def test_an_answer_is_for_those_inside_its_fence_and_for_its_time() -> None:
    kept = KeptAnswers(10_000)
    kept.put(answer("a"))
    assert kept.try_get(b"a", b"f", 9.9) == answer("a")
    assert kept.try_get(b"a", b"other", 9.9) is None
    assert kept.try_get(b"b", b"f", 9.9) is None
    assert kept.try_get(b"a", b"f", 10.0) is None
    assert (len(kept), kept.size_bytes) == (0, 0)


def test_the_longest_unasked_gives_way() -> None:
    kept = KeptAnswers(2 * (ENTRY_BYTES + 100))
    for name in ("a", "b"):
        kept.put(answer(name))
    kept.try_get(b"a", b"f", 1.0)
    kept.put(answer("c"))
    assert [kept.try_get(name, b"f", 1.0) is not None for name in (b"a", b"b", b"c")] == [True, False, True]
    kept.put(answer("c", size=200))
    assert (len(kept), kept.size_bytes) == (1, ENTRY_BYTES + 200)
    kept.resize(0)
    assert (len(kept), kept.size_bytes) == (0, 0)


def test_one_that_is_larger_than_the_bound_is_not_kept() -> None:
    kept = KeptAnswers(1000)
    kept.put(answer("a", size=2000))
    assert (len(kept), kept.size_bytes) == (0, 0)
