"""A text that is written in small letters: the capitals that its names would have had."""

import re
from typing import Final

from heterodyne.safety.pii.words.common import LOWER
from heterodyne.safety.pii.words.given_names import AMBIGUOUS, GIVEN_NAMES
from heterodyne.safety.pii.words.place_names import AMBIGUOUS_PLACES, PLACES
from heterodyne.safety.pii.words.runs import UPPER
from heterodyne.safety.pii.words.word_set import word_set

LOWER_WORD: Final = re.compile(r"(?<![\w.@/-])[^\W\d_][^\W\d_'’-]*+(?![\w@])")
LOWER_NAMES: Final = frozenset(name.lower() for name in GIVEN_NAMES - AMBIGUOUS if len(name) > 3)
LOWER_PLACES: Final = frozenset(name.lower() for name in PLACES - AMBIGUOUS_PLACES if " " not in name and len(name) > 3)
NAMES_AND_PLACES: Final = LOWER_NAMES | LOWER_PLACES
AFTER_GIVEN: Final = re.compile(
    rf"(?P<given>[{UPPER}][^\W\d_]++ (?:[a-z]\.? )?)(?P<family>[^\W\d_A-Z]{{3,20}}+)(?![\w@])"
)
INTRODUCED: Final = re.compile(
    r"\b(?:name is|call me|named|name:)\s+([^\W\d_]{2,20}+)(?: ([^\W\d_]\.? )?([^\W\d_]{3,20}+))?"
)
ENDS: Final = word_set(
    """
    and at but can could for from i in is my or please the to was who with
    """
)


def with_capitals(text: str) -> str:
    """The text with capitals where names and places begin that are known or introduced; as long as before."""
    capitals = AFTER_GIVEN.sub(_family, LOWER_WORD.sub(_capital, text))
    capitals = INTRODUCED.sub(lambda match: match[0][: match.start(1) - match.start()] + _titled(match, text), capitals)
    return capitals if len(capitals) == len(text) else text


def _family(match: re.Match[str]) -> str:
    """A word after a given name is the family name, unless it is common."""
    return match[0] if match["family"] in LOWER else match["given"] + match["family"].capitalize()


def _capital(match: re.Match[str]) -> str:
    word = match[0]
    return word[0].upper() + word[1:] if word in NAMES_AND_PLACES else word


def _titled(match: re.Match[str], text: str) -> str:
    """A name that is introduced: its first word, and a second one unless the sentence goes on with it."""
    del text
    rest = match[0][match.start(1) - match.start() :]
    first, _, second = rest.partition(" ")
    if second and second.split()[0] not in ENDS:
        return first.capitalize() + " " + second.title()
    return first.capitalize() + (" " + second if second else "")
