"""How one kind of personal data is recognised: a shape, perhaps a check digit, and words that make it likelier."""

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from heterodyne.safety.finding import Finding

THRESHOLD: Final = 0.5  # findings that are less sure are not reported
WEAK: Final = 0.2  # a shape that much else has too: reported only beside its words
LIKELY: Final = 0.6  # a shape that little else has
SURE: Final = 0.95  # a check digit holds, and the shape is rare
RAISED: Final = 0.85  # what words nearby raise a shape to

BEFORE_CHARACTERS: Final = 72  # how far context words may stand before a match ...
AFTER_CHARACTERS: Final = 32  # ... and after it

# Boundaries know ASCII only, by the flag: in Korean or Thai a letter follows a number without a space.
START: Final = r"\b(?<![0-9][-./])"
END: Final = r"(?![A-Za-z0-9])(?![-./][0-9])"


# ASCII letters in small ones; every other character is a space.
LETTERS: Final = bytes(code if chr(code).isascii() and chr(code).islower() else 32 for code in range(256))
FIRST_WORD: Final = re.compile("[a-z]+")


class Context(Struct, frozen=True):
    """Words that make a weak shape likelier."""

    pattern: re.Pattern[str]
    first_words: frozenset[bytes]  # one of them stands, as a whole word of ASCII letters, wherever the pattern matches
    is_foreign: bool  # some of the words begin with other letters


class Recogniser(Struct, frozen=True, kw_only=True):
    """One shape of one kind of data. A kind may have several, the surest of which counts.

    `digits_min`, `telling` and `is_long` say what every match has. Where a text has not, it is not searched.
    """

    rule: str
    pattern: re.Pattern[str]
    score: float = WEAK  # without context words
    check: Callable[[str], bool] | None = None  # of the matched text; a match that fails is none
    context: Context | None = None
    raised: float = RAISED  # with context words
    digits_min: int = 1
    telling: str = ""  # kinds of characters in a row, as `Glance` tells them ...
    telling_min: int = 1  # ... and how many times, one behind the other
    is_long: bool = False  # a word of letters and digits as long as `LONG_WORD`


def shape(pattern: str, *, exact_case: bool = False) -> re.Pattern[str]:
    """A shape that stands alone, between characters that could not be part of it."""
    return re.compile(f"{START}(?:{pattern}){END}", re.ASCII if exact_case else re.ASCII | re.IGNORECASE)


def words(*stems: str) -> Context:
    """Context words, in small letters: whole ones in ASCII, with a plural; beginnings in scripts that join words."""
    by_letter: dict[str, list[str]] = {}
    first_words: set[str] = set()
    for stem in stems:
        by_letter.setdefault(stem[0], []).append(re.escape(stem[1:]) + (r"s?(?![a-z])" if stem.isascii() else ""))
        if (first := FIRST_WORD.match(stem)) is not None:
            first_words |= {first[0], first[0] + "s"} if first[0] == stem else {first[0]}
    # Letters first, boundary second: a pattern that begins with one of a few letters is searched for faster.
    branches = (rf"{letter}(?<![^\W\d_].)(?:{'|'.join(rests)})" for letter, rests in by_letter.items())
    return Context(
        re.compile("|".join(branches)),
        frozenset(word.encode() for word in first_words),
        any(FIRST_WORD.match(stem) is None for stem in stems),
    )


def digits_of(text: str) -> str:
    """The ASCII digits of a match."""
    return "".join(one for one in text if one in "0123456789")


def matches(recogniser: Recogniser, text: str, start: int, end: int, threshold: float) -> list[Finding]:
    """What one recogniser finds in a part of a text. Lookbehinds see what stands before the part."""
    found: list[Finding] = []
    for match in recogniser.pattern.finditer(text, start, end):
        if recogniser.check is not None and not recogniser.check(match[0]):
            continue
        score, context = recogniser.score, recogniser.context
        if score < recogniser.raised and context is not None and has_context(context, text, *match.span()):
            score = recogniser.raised
        if score >= threshold:
            found.append(Finding(start=match.start(), end=match.end(), rule=recogniser.rule, score=score))
    return found


def has_context(context: Context, text: str, start: int, end: int) -> bool:
    """Whether a context word stands near a match."""
    search = context.pattern.search
    if search(text[max(0, start - BEFORE_CHARACTERS) : start].lower()) is not None:
        return True
    return search(text[end : end + AFTER_CHARACTERS].lower()) is not None


def words_near(text: str, start: int, end: int) -> list[bytes]:
    """The words of ASCII letters as far around a part of a text as context reaches."""
    near = text[max(0, start - BEFORE_CHARACTERS) : end + AFTER_CHARACTERS]
    return near.lower().encode("ascii", "replace").translate(LETTERS).split()
