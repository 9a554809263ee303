"""Who asks, by the key they bring."""

from hashlib import sha256

import pytest

from heterodyne.console.access.operators import OperatorRole, Operators
from heterodyne.domain.errors import Unauthenticated


def test_without_keys_everybody_is_local() -> None:
    local = Operators(()).identify(None)
    assert (local.who, local.role) == ("local", OperatorRole.OPERATOR)


def test_an_operator_is_named_by_the_beginning_of_the_digest() -> None:
    digests = [sha256(key).hexdigest() for key in (b"one", b"two")]
    operators = Operators(tuple(digests))
    assert operators.identify("Bearer two").who == f"key {digests[1][:8]}"
    assert operators.identify("bearer  one ").who == f"key {digests[0][:8]}"


@pytest.mark.parametrize("authorization", [None, "", "Bearer ", "Bearer three", "Token one", "one", "Bearer ön"])
def test_anybody_else_is_nobody(authorization: str | None) -> None:
    with pytest.raises(Unauthenticated):
        Operators((sha256(b"one").hexdigest(),)).identify(authorization)


def test_a_viewers_key_has_another_role() -> None:
    operators = Operators((sha256(b"one").hexdigest(),), (sha256(b"two").hexdigest(),))
    assert [operators.identify(f"Bearer {key}").role for key in ("one", "two")] == [
        OperatorRole.OPERATOR,
        OperatorRole.VIEWER,
    ]
    assert operators.try_by_digest(sha256(b"two").digest()) == operators.identify("Bearer two")
    assert operators.try_by_digest(sha256(b"three").digest()) is None
