"""How much of an unfinished text can be judged: where something personal, or a secret, may still be growing."""

import re
from typing import Final

from heterodyne.safety.finding import Settled
from heterodyne.safety.glance import Glance
from heterodyne.safety.pii.words.runs import UPPER, capitals
from heterodyne.safety.pii.words.word_set import word_set

# Characters that numbers, addresses and secrets have and plain words have not.
TELLING_ALONE: Final = "0123456789@:/_+=#\\<[({-"
TELLING: Final = re.compile(rf"[{re.escape(TELLING_ALONE)}]|[!$%&*?~^](?=[^\s!?])")
PLAIN: Final = "abcdefghijklmnopqrstuvwxyz ,.;\n"
BETWEEN_NAMES: Final = word_set("de la los las del della di da do dos das du des van der den von zu ten ter le el al")
CAPITAL: Final = re.compile(f"[{UPPER}]")
WITHOUT_SPACES: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")  # scripts that write none
SPACES: Final = " \n\t"
PLAIN_BEHIND: Final = 16  # characters after which a number, a name or an address does not go on


def settle(text: str) -> Settled:
    """Names that are written in small letters are not waited for."""
    plain, judged, _ = places(text)
    return Settled(plain, judged)


def places(text: str) -> tuple[int, int, int]:
    """The same two places; and as long as the last word begins before the third they stay where they are."""
    if not text.lstrip(PLAIN):  # as nearly every piece of nearly every answer
        last = max(text.rfind(" "), text.rfind("\n")) + 1
        return last, last, 0
    last = _last_words(text)
    telling = TELLING.search(text, 0, last)
    names = capitals(Glance(text[:last]))
    if telling is None and not names:
        return last, last, 0
    plain, end = last, 0
    if telling is not None:
        plain = _word_start(text, telling.start())
        near = max(telling.start(), last - PLAIN_BEHIND)  # what stands before it is as good as the first
        end = max((match.end() for match in TELLING.finditer(text, near, last)), default=telling.end())
    if names:
        plain, end = min(plain, names[0].start()), max(end, names[-1].end())
    # A word that is complete stays what it is, whatever comes: the end alone moves.
    if last - end >= PLAIN_BEHIND:
        return plain, last, 0
    return plain, plain, end + PLAIN_BEHIND if text.isascii() else 0  # some scripts have no words


def _last_words(text: str) -> int:
    """The start of the last word, or of the capitalised words at the end: a name may go on."""
    at = _word_start(text, len(text))
    while at and text[at - 1] in SPACES:
        word_end = len(text[:at].rstrip(SPACES))
        start = _word_start(text, word_end)
        word = text[start:word_end]
        if word and CAPITAL.match(word) is None and word not in BETWEEN_NAMES:
            return word_end + 1
        at = start
    return at


def _word_start(text: str, at: int) -> int:
    """The start of the word that ends before a place."""
    start = max(text.rfind(" ", 0, at), text.rfind("\n", 0, at), text.rfind("\t", 0, at)) + 1
    if not text.isascii():
        for letter in WITHOUT_SPACES.finditer(text, start, at):
            start = letter.end()
    return start
