"""How much of an unfinished text must be held back: from where something personal, or a secret, may have begun."""

import re
from typing import Final

from heterodyne.safety.pii.words.runs import UPPER, capitals
from heterodyne.safety.pii.words.word_set import word_set

# Characters that numbers, addresses and secrets have and plain words have not.
TELLING: Final = re.compile(r"[0-9@:/_+=#\\<\[({-]")
BETWEEN_NAMES: Final = word_set("de la los las del della di da do dos das du des van der den von zu ten ter le el al")
CAPITAL: Final = re.compile(f"[{UPPER}]")


def open_from(text: str) -> int:
    """The first character that may be part of a finding when the text goes on; the rest can be judged now.

    Names that are written in small letters are not waited for.
    """
    opened = _last_words(text)
    telling = TELLING.search(text, 0, opened)
    if telling is not None:
        opened = _word_start(text, telling.start())
    if (names := capitals(text[:opened])) != []:
        opened = min(opened, names[0].start())
    return opened


def _last_words(text: str) -> int:
    """The start of the last word, or of the capitalised words at the end: a name may go on."""
    at = _word_start(text, len(text))
    while at:
        start = _word_start(text, at - 1)
        word = text[start : at - 1]
        if word and CAPITAL.match(word) is None and word not in BETWEEN_NAMES:
            break
        at = start
    return at


def _word_start(text: str, at: int) -> int:
    """The start of the word that ends before a place."""
    return max(text.rfind(" ", 0, at), text.rfind("\n", 0, at), text.rfind("\t", 0, at)) + 1
