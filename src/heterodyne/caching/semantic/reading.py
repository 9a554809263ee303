"""What the verifier and the features see of a prompt: read once, and kept with its entry."""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from heterodyne.caching.semantic import lexicon

TEXT_CHARS_MAX: Final = 4096  # of a longer prompt its head and its tail are read, as many characters together

# A word with what belongs to it (C++, C#, .NET, don't), a number, a run of symbols, or one sign of a script without
# spaces. What stands between them is space and punctuation.
_TOKENS: Final = re.compile(
    r"\d+(?:[.,:]\d+)*|\.?[^\W\d_]+(?:['’][^\W\d_]+)*(?:\+\+|\#)?|[-+*/=<>^~%$€£₹@&|\\#\[\]{}()_]+|[^\w\s.,;:!?\"'“”‘’]"
)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_BRACKETS: Final = re.compile(r"[()\[\]]+")  # alone they are punctuation
_PUNCTUATION: Final = frozenset("-/&*_–—…•·´«»()")


class PromptReading(Struct, frozen=True):
    """One prompt, taken apart."""

    words: tuple[str, ...]  # in order, lower case, with symbols
    stems: frozenset[str]
    content: frozenset[str]  # the stems that are no function words
    names: frozenset[str]  # lower case
    numbers: frozenset[str]
    units: frozenset[str]
    dates: frozenset[str]
    symbols: frozenset[str]
    sides: frozenset[tuple[int, int]]  # of pairs of opposites
    kind: str  # what is asked for; empty where no question word opens it
    is_negated: bool
    code: str  # without its spaces; empty where there is none


def read(text: str) -> PromptReading:
    """Takes a prompt apart."""
    if len(text) > TEXT_CHARS_MAX:
        text = text[: TEXT_CHARS_MAX // 2] + " " + text[-TEXT_CHARS_MAX // 2 :]
    code = ""
    if "`" in text:
        code = "".join("".join(_CODE.findall(text)).split())
        text = _CODE.sub(" ", text)
    tokens = _TOKENS.findall(text)
    words = [token.lower().replace("’", "'") for token in tokens]
    known = set(words)
    numbers, dates = _numbers(known)
    stems = {stem(word) for word in words}
    return PromptReading(
        words=tuple(words),
        stems=frozenset(stems),
        content=frozenset(stems - lexicon.FUNCTION_WORDS),
        names=_names(text, tokens),
        numbers=frozenset(numbers),
        units=frozenset([lexicon.UNITS[word] for word in known if word in lexicon.UNITS]),
        dates=frozenset(dates | (known & lexicon.DATE_WORDS)),
        symbols=frozenset([word for word in known if _is_symbol(word)]),
        sides=frozenset([side for word in known if word in lexicon.OPPOSITES for side in lexicon.OPPOSITES[word]]),
        kind=_kind(words),
        is_negated=not lexicon.NEGATIONS.isdisjoint(known) or any(word.endswith("n't") for word in known),
        code=code,
    )


@lru_cache(maxsize=8192)  # most words of a prompt are among the frequent ones
def stem(word: str) -> str:
    """A word without the ending that a plural or a tense gives it; roughly, and the same for every spelling of it."""
    if len(word) < 5:
        return word[:-1] if len(word) == 4 and word[-1] == "s" and word[-2] not in "su" else word
    for ending in ("ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "ly", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _numbers(words: set[str]) -> tuple[set[str], set[str]]:
    """Numbers as one spelling each, and those of them that look like a year or a day."""
    numbers: set[str] = set()
    dates: set[str] = set()
    for word in words:
        if word[0].isdigit():
            plain = word.replace(",", "")
            if len(plain) == 4 and plain.isdigit() and 1800 <= int(plain) < 2100:
                dates.add(plain)
            else:
                numbers.add(plain.rstrip("0").rstrip(".") if "." in plain else plain.lstrip("0") or "0")
        elif word in lexicon.NUMBER_WORDS:
            numbers.add(lexicon.NUMBER_WORDS[word])
    return numbers, dates


def _names(text: str, tokens: list[str]) -> frozenset[str]:
    """Words with a capital that does not only open a sentence, and words of scripts that have no capitals."""
    capitals = [token for token in tokens if token[0].isupper()]
    starts = _sentence_starts(text)
    # Where nearly every word has a capital (a title, a shouted prompt) capitals say nothing.
    is_title = len(capitals) * 3 > sum(1 for token in tokens if token[0].isalpha()) * 2 and len(capitals) > 3
    found = set()
    if not is_title:
        found = {
            token.lower().removesuffix("'s").removesuffix("’s")
            for token in capitals
            if token not in starts or (len(token) > 1 and not token[1:].islower())
        }
    if not text.isascii():
        found |= {token for token in tokens if token[0].isalpha() and not token[0].isupper() and token.upper() == token}
    found -= lexicon.FUNCTION_WORDS
    return frozenset(found)


_START: Final = re.compile(r"(?:\A|[.?!:;\"“(]\s*)([^\W\d_]+)")


def _sentence_starts(text: str) -> set[str]:
    return set(_START.findall(text))


def _is_symbol(word: str) -> bool:
    return not word[-1].isalnum() and word not in _PUNCTUATION and _BRACKETS.fullmatch(word) is None


def _kind(words: list[str]) -> str:
    for position, word in enumerate(words[:4]):
        if word in lexicon.QUESTION_KINDS or word.removesuffix("'s") in lexicon.QUESTION_KINDS:
            kind = lexicon.QUESTION_KINDS[word.removesuffix("'s")]
            following = words[position + 1] if position + 1 < len(words) else ""
            return "amount" if kind == "manner" and following in lexicon.QUESTION_AMOUNTS else kind
        if position == 0 and word in lexicon.YES_NO_OPENERS:
            return "yes_no"
    return ""
