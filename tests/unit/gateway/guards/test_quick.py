"""Which bodies are looked at in the loop: short ones, and longer ones in which little begins that rules look for."""

import pytest

from heterodyne.gateway.guards.quick import ANY_BYTES_MAX, QUICK_BYTES_MAX, TELLING_MAX, is_quick

PROSE = "Please summarise the report for Anna, who has 3 days, and say what was decided in May. "


def repeated(piece: str, size: int) -> bytes:
    data = piece.encode()
    return (data * (size // len(data) + 1))[:size]


@pytest.mark.parametrize("piece", ["1", "Ab ", "</", "A. ", "12-", "::", "Я", "@", "\n"])
def test_what_is_full_of_beginnings_is_quick_while_it_is_short(piece: str) -> None:
    assert is_quick(repeated(piece, ANY_BYTES_MAX))
    assert not is_quick(repeated(piece, QUICK_BYTES_MAX))


@pytest.mark.parametrize(
    "piece", [PROSE, "many plain words, ", '["many", "words"] ', "la réponse est dans le rapport, "]
)
def test_words_are_quick_for_longer(piece: str) -> None:
    assert is_quick(repeated(piece, QUICK_BYTES_MAX))
    assert not is_quick(repeated(piece, QUICK_BYTES_MAX + 1))


def test_beginnings_are_counted_wherever_they_stand() -> None:
    words = repeated("word ", QUICK_BYTES_MAX - TELLING_MAX - 1)
    assert is_quick(words + b"7" * TELLING_MAX)
    assert not is_quick(b"7" + words + b"7" * TELLING_MAX)
