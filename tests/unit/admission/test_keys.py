"""Whose key is good."""

from hashlib import sha256

import pytest

from heterodyne.admission.keys import KeyRing
from heterodyne.domain.errors import Unauthenticated

RING = KeyRing(tuple(sha256(key).hexdigest() for key in (b"one", b"two")))


@pytest.mark.parametrize("header", [b"Bearer one", b"bearer two", b"BEARER  one "])
def test_an_issued_key_opens(header: bytes) -> None:
    RING.check(header)


@pytest.mark.parametrize("header", [None, b"", b"one", b"Bearer", b"Bearer ", b"Basic one"])
def test_without_a_key_the_answer_says_how_to_send_one(header: bytes | None) -> None:
    with pytest.raises(Unauthenticated, match="Authorization: Bearer"):
        RING.check(header)


@pytest.mark.parametrize("header", [b"Bearer three", b"Bearer on", b"Bearer one two", b"Bearer \xff"])
def test_a_key_nobody_issued_does_not(header: bytes) -> None:
    with pytest.raises(Unauthenticated, match="not valid"):
        RING.check(header)


def test_an_empty_ring_lets_everybody_in() -> None:
    KeyRing(()).check(None)
