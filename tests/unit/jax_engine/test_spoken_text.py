"""Tokens of the JAX engine as the text that is sent."""

from collections.abc import Sequence

import pytest

from heterodyne.jax_engine.spoken_text import SpokenText
from heterodyne.jax_engine.texts import ByteTexts


def as_bytes(tokens: Sequence[int]) -> str:
    return bytes(tokens).decode(errors="replace")


def said(text: str, *stops: str, prompt: str = "before") -> tuple[list[str], bool]:
    """What is sent after each byte, and at the end, as far as anything is."""
    spoken, pieces = SpokenText(as_bytes, prompt.encode(), stops), []
    for token in text.encode():
        pieces.append(spoken.add(token))
        if spoken.has_stopped:
            break
    pieces.append(spoken.end())
    return [piece for piece in pieces if piece], spoken.has_stopped


def test_letters_are_sent_whole() -> None:
    assert said("aé🙂b") == (["a", "é", "🙂", "b"], False)


def test_bytes_that_are_no_letter_are_sent_in_the_end() -> None:
    spoken = SpokenText(as_bytes, b"x", ())
    assert (spoken.add(0xF0), spoken.add(0x9F), spoken.end()) == ("", "", "\ufffd")


def test_a_long_text_is_whole() -> None:
    text = "the quick brown fox – jumps " * 40
    assert "".join(said(text)[0]) == text


def test_what_may_become_a_stop_text_is_held_back() -> None:
    assert said("one EN two END three", "END") == (["o", "n", "e", " ", "EN ", "t", "w", "o", " "], True)


def test_a_stop_text_that_does_not_come_is_sent() -> None:
    assert "".join(said("one EN", "END")[0]) == "one EN"


@pytest.mark.parametrize("stop", ["a", "ab"])
def test_the_first_of_several_stop_texts_counts(stop: str) -> None:
    assert said("xxabyy", "yy", stop) == (["x", "x"], True)


def test_random_weights_speak_in_letters() -> None:
    texts = ByteTexts()
    assert texts.encode("ab", has_start=True) == [97, 98]
    assert texts.decode([0, 33, 128_000]).isprintable()
    asked = [{"role": "user", "content": "hi"}]
    assert bytes(texts.chat(asked, adds_prompt=True, continues=False)) == b"user: hi\nassistant: "
    assert bytes(texts.chat(asked, adds_prompt=True, continues=True)) == b"user: hi"
