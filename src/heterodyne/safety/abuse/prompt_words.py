"""The words of a prompt that prompts are compared by: the set of those with four letters and more, in small letters.

Short words are in every text. Numbers are left out, so that a counter in a template does not make it another one. In
scripts without spaces two characters side by side are a word. Of long texts both ends are looked at.
"""

import re
from typing import Final

CHARS_MAX: Final = 4096  # of a longer text, half of it from each end: templates stand around what they are filled with
LETTERS_MIN: Final = 4

# ASCII: letters are lower-cased and stay, all else becomes a space.
_LETTERS: Final = bytes(byte | 32 if chr(byte).isalpha() and byte < 128 else 32 for byte in range(256))
_WORDS: Final = re.compile(r"[^\W\d_]+")
_SPACELESS: Final = "\u0e00"  # from Thai on, as characters are numbered, scripts have few spaces or short words


def both_ends(text: str) -> str:
    """What is looked at of a text."""
    if len(text) <= CHARS_MAX:
        return text
    half = CHARS_MAX // 2
    return f"{text[:half]} {text[-half:]}"


def words_of(text: str) -> set[bytes]:
    """Each once."""
    if text.isascii():
        return {word for word in text.encode().translate(_LETTERS).split() if len(word) >= LETTERS_MIN}
    found: set[bytes] = set()
    for word in _WORDS.findall(text.lower()):
        if word[0] >= _SPACELESS:
            found.update((word[place : place + 2]).encode("utf-8", "replace") for place in range(len(word) - 1))
        elif len(word) >= LETTERS_MIN:
            found.add(word.encode("utf-8", "replace"))
    return found
