"""A kept answer is believed only as it was sealed."""

import pytest

from heterodyne.caching.entry import CachedAnswer, seal, try_open

SECRET = bytes(range(32))
ANSWER = CachedAnswer(
    key=b"k" * 32, fence=b"f" * 32, model_version="m@1", stored_at_s=10.0, expires_at_s=20.0, body=b"{}", tags=("news",)
)


def test_what_was_sealed_comes_back():
    assert try_open(seal(ANSWER, SECRET), SECRET, key=ANSWER.key, fence=ANSWER.fence) == ANSWER


def test_a_change_of_any_byte_is_noticed():
    stored = seal(ANSWER, SECRET)
    for place in range(len(stored)):
        changed = bytearray(stored)
        changed[place] ^= 1
        assert try_open(bytes(changed), SECRET, key=ANSWER.key, fence=ANSWER.fence) is None


def test_a_cut_at_any_place_is_noticed():
    stored = seal(ANSWER, SECRET)
    assert all(try_open(stored[:end], SECRET, key=ANSWER.key, fence=ANSWER.fence) is None for end in range(len(stored)))


@pytest.mark.parametrize(("key", "fence"), [(b"x" * 32, ANSWER.fence), (ANSWER.key, b"x" * 32)])
def test_an_answer_under_another_key_or_fence_is_refused(key: bytes, fence: bytes):
    assert try_open(seal(ANSWER, SECRET), SECRET, key=key, fence=fence) is None


def test_a_seal_by_another_secret_is_refused():
    assert try_open(seal(ANSWER, bytes(32)), SECRET, key=ANSWER.key, fence=ANSWER.fence) is None


@pytest.mark.parametrize(("now_s", "is_fresh"), [(9.9, False), (10.0, True), (19.9, True), (20.0, False)])
def test_an_answer_holds_from_its_storing_to_its_end(now_s: float, is_fresh: bool):
    assert ANSWER.is_fresh(now_s) is is_fresh
