"""Runs of capitalised words: where a name of any kind could stand."""

import re
from collections.abc import Iterator
from typing import Final

from heterodyne.safety.glance import CAPITAL, Glance
from heterodyne.safety.pii.words.before import Before
from heterodyne.safety.pii.words.common import COMMON
from heterodyne.safety.pii.words.company_forms import FORMS
from heterodyne.safety.pii.words.place_names import FIRST_OF_SEVERAL, OF_SEVERAL_WORDS
from heterodyne.safety.pii.words.surnames import SURNAMES
from heterodyne.safety.pii.words.word_set import word_set

# Capital letters of Latin, Greek and Cyrillic, as the inside of a character class.
UPPER: Final = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x530) if chr(code).isupper())
TITLES: Final = word_set(
    """
    Captain Doctor Don Doña Dr Dr. Frau Herr Lady Lord Madam Madame Monsieur Mr Mr. Mrs Mrs. Ms Ms. Mx Mx. Prof
    Prof. Professor Señor Señora Sir Sr. Sra
    """
)
PARTICLES: Final = (
    "de la|de los|de las|de|del|della|di|da|do|dos|das|du|des|van der|van den|van de|van|von der|von|zu|der|den|ten|ter"
    "|la|le|el|al|bin|ibn|ben|af|av|y|e"
)
PARTICLE_REACH: Final = max(map(len, PARTICLES.split("|"))) + 2  # how far behind a word its run may go on
TOKEN: Final = re.compile(rf"(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Mx)\.|[{UPPER}]\.(?=\s)|[\w'’-]+")


def _run(upper: str) -> re.Pattern[str]:
    """Up to eight words. The boundary stands behind the first letter: a set at the start is searched for faster."""
    return re.compile(
        rf"[{upper}](?<![\w'’@#/\\.-].)(?:(?:(?<=M)(?:rs?|s|x)|(?<=D)r|(?<=P)rof|(?<=S)[tr])\.|[\w'’-]*+)(?!@)"
        rf"(?:[ \u00a0](?:(?:{PARTICLES})[ \u00a0])?(?:[{upper}]\.(?=[ \u00a0])|[{upper}][\w'’-]*+)){{0,7}}+"
    )


RUN: Final = _run(UPPER)
RUN_ASCII: Final = _run("A-Z")  # quicker, for a text without other letters


class Run:
    """Capitalised words that stand side by side, without those that are common."""

    __slots__ = ("before", "end", "is_first", "start", "words")

    def __init__(self, text: str, start: int, end: int, words: list[str], is_first: bool) -> None:
        self.before = Before(text, start)
        self.start = start
        self.end = end
        self.words = words
        self.is_first = is_first  # whether a sentence begins with it, so that its capital may mean nothing


def capitals(glance: Glance) -> list[re.Match[str]]:
    """Where capitalised words stand side by side, or one that is not common. Most prompts have few."""
    text, kinds = glance.text, glance.kinds
    if not text.isascii():
        return [match for match in RUN.finditer(text) if match[0] not in COMMON]
    found: list[re.Match[str]] = []
    at, end = kinds.find(CAPITAL), 0
    while at >= 0:
        if end <= at:  # looked for once in each word, however many capitals that has
            end = text.find(" ", at)
            end = end if end >= 0 else len(text)
        following = kinds.find(CAPITAL, at + 1)
        if (following < 0 or following > end + PARTICLE_REACH) and text[at:end] in COMMON:
            at = following  # one that begins a sentence, as most do
            continue
        match = RUN_ASCII.match(text, at)
        if match is None:
            at = following
            continue
        if match[0] not in COMMON:
            found.append(match)
        at = kinds.find(CAPITAL, match.end())
    return found


def runs(text: str, start: int, end: int) -> Iterator[Run]:
    """Capitalised words without the common ones among them. A genitive ends a run, a place of several words is one."""
    tokens = [(token.start(), _bare(token[0])) for token in TOKEN.finditer(text, start, end)]
    is_first = _begins_sentence(text, start)
    words: list[str] = []
    first = last = start
    at = 0
    while at < len(tokens):
        begin, word = tokens[at]
        size = _place_size(tokens, at)
        is_kept = not size and _is_kept(word, words)
        if words and not is_kept:
            yield Run(text, first, last, words, is_first and first == start)
            words = []
        if size:
            names = [name for _, name in tokens[at : at + size]]
            yield Run(text, begin, tokens[at + size - 1][0] + len(names[-1]), names, is_first and begin == start)
        elif is_kept:
            first = first if words else begin
            words.append(word)
            last = begin + len(word)
            if text.startswith(("'s", "’s"), last):
                yield Run(text, first, last, words, is_first and first == start)
                words = []
        at += size or 1
    if words:
        yield Run(text, first, last, words, is_first and first == start)


def _bare(word: str) -> str:
    """A word without its genitive."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _is_kept(word: str, words: list[str]) -> bool:
    """Whether a word belongs to a run; a common one does after a title or a name, as in Mr. May and Zoe Young."""
    if word not in COMMON or word in TITLES:
        return True
    return bool(words) and (word in SURNAMES or word in FORMS or words[-1] in TITLES)


def _place_size(tokens: list[tuple[int, str]], at: int) -> int:
    """How many words from here on are a place, such as New York; 0 for one or none."""
    word = tokens[at][1]
    if word not in FIRST_OF_SEVERAL and word.capitalize() not in FIRST_OF_SEVERAL:
        return 0
    for size in range(min(4, len(tokens) - at), 1, -1):
        name = " ".join(name for _, name in tokens[at : at + size])
        if name in OF_SEVERAL_WORDS or (name.isupper() and name.title() in OF_SEVERAL_WORDS):
            return size
    return 0


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" \"'“(")
    return not before or before[-1] in ".!?\n"
