"""How one kind of personal data is recognised: a shape, perhaps a check digit, and words that make it likelier."""

import re
from collections.abc import Callable, Iterator
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


class Recogniser(Struct, frozen=True, kw_only=True):
    """One shape of one kind of data. A kind may have several, the surest of which counts."""

    rule: str
    pattern: re.Pattern[str]
    score: float = WEAK  # without context words
    check: Callable[[str], bool] | None = None  # of the matched text; a match that fails is none
    context: re.Pattern[str] | None = None
    raised: float = RAISED  # with context words
    digits_min: int = 1  # how many digits a match has at the least; it is not looked for where fewer are


def shape(pattern: str, *, exact_case: bool = False) -> re.Pattern[str]:
    """A shape that stands alone, between characters that could not be part of it."""
    return re.compile(f"{START}(?:{pattern}){END}", re.ASCII if exact_case else re.ASCII | re.IGNORECASE)


def words(*stems: str) -> re.Pattern[str]:
    """Context words, in small letters: whole ones in ASCII, with a plural; beginnings in scripts that join words."""
    by_letter: dict[str, list[str]] = {}
    for stem in stems:
        by_letter.setdefault(stem[0], []).append(re.escape(stem[1:]) + (r"s?(?![a-z])" if stem.isascii() else ""))
    # Letters first, boundary second: a pattern that begins with one of a few letters is searched for faster.
    branches = (rf"{letter}(?<![^\W\d_].)(?:{'|'.join(rests)})" for letter, rests in by_letter.items())
    return re.compile("|".join(branches))


def digits_of(text: str) -> str:
    """The ASCII digits of a match."""
    return "".join(one for one in text if one in "0123456789")


def matches(recogniser: Recogniser, text: str, start: int, end: int, threshold: float) -> Iterator[Finding]:
    """What one recogniser finds in a part of a text. Lookbehinds see what stands before the part."""
    for match in recogniser.pattern.finditer(text, start, end):
        if recogniser.check is not None and not recogniser.check(match[0]):
            continue
        score, context = recogniser.score, recogniser.context
        if score < recogniser.raised and context is not None and has_context(context, text, *match.span()):
            score = recogniser.raised
        if score >= threshold:
            yield Finding(start=match.start(), end=match.end(), rule=recogniser.rule, score=score)


def has_context(context: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether a context word stands near a match."""
    before = text[max(0, start - BEFORE_CHARACTERS) : start].lower()
    if context.search(before) is not None:
        return True
    return context.search(text[end : end + AFTER_CHARACTERS].lower()) is not None
