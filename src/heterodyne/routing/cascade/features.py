"""What a prompt looks like, in numbers that take no model: its surface, and hashes of its words and word pairs.

A hash is CRC-32 of the text alone, so it is the same in every process. Whoever changes this file changes `VERSION`:
weights that were fitted to other features mean something else.
"""

import math
import re
from typing import Final
from zlib import crc32

VERSION: Final = "1"
BUCKETS: Final = 1 << 14
CHARACTERS_MAX: Final = 4_000  # of a prompt that are looked at, half from either end: tasks stand first or last

ASKED: Final = (
    "asks_fact",
    "asks_amount",
    "asks_reason",
    "asks_choice",
    "asks_code",
    "asks_essay",
    "negation",
)
SURFACE: Final = (
    "length",
    "words",
    "word_length",
    "longest_word",
    "lines",
    "digits",
    "formula",
    "latex",
    "code",
    "sentences",
    "question_marks",
    *ASKED,
    "blank",
    "options",
    "statements",
    "none_of_these",
    "foreign",
    "other_script",
)

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|\d+|[^\w\s]")
_SENTENCE: Final = re.compile(r"[.!?](?:\s|$)")
_OPTION: Final = re.compile(r"^[ \t]*\(?[A-J1-9][.):]\s", re.MULTILINE)
_CODE: Final = re.compile(
    r"```|^[ \t]*(?:def |class |import |from \w+ import |#include|function |public |SELECT )", re.MULTILINE
)
# One pass for all kinds of asking: of two kinds that begin at the same word, the first counts.
_ASKS: Final = re.compile(
    r"\b(?:(?P<asks_code>(?:write|implement|fix|debug|refactor)\b.{0,40}\b(?:function|program|code|script|class|query)\b)"
    r"|(?P<asks_essay>(?:write|compose|draft|summari[sz]e|describe|translate|discuss)\b)"
    r"|(?P<asks_amount>(?:how (?:many|much|long|far|old|often)|calculate|compute|find the|what percent\w*|total)\b)"
    r"|(?P<asks_reason>(?:why|how (?:do|does|did|can|would|is|are)|explain|prove|show that|derive)\b)"
    r"|(?P<asks_choice>(?:which (?:of|one|is|best|statement)|choose|select)\b)"
    r"|(?P<asks_fact>(?:who|when|where|what (?:is|was|are|were)|in which|name the)\b)"
    r"|(?P<negation>(?:not|never|except|least|false|incorrect|cannot|unlikely)\b)"
    r"|(?P<statements>statement \d|(?:i|ii|iii|iv)\.|(?:i|ii) and (?:ii|iii)\b)"
    r"|(?P<none_of_these>(?:none|all|both|neither) of\b))"
)
# The words that an English text can hardly do without; a text with letters and few of them is in another language.
_ENGLISH: Final = frozenset(
    ("the", "of", "and", "to", "a", "in", "is", "for", "that", "with", "as", "on", "are", "by", "be", "it", "was", "an")
)


def surface(prompt: str) -> list[float]:
    """One number per name in `SURFACE`."""
    text = shortened(prompt)
    lowered = text.lower()
    words = text.split()
    asked = {found.lastgroup for found in _ASKS.finditer(lowered)}
    letters = max(1, len(text))
    count = max(1, len(words))
    english = sum(word in _ENGLISH for word in lowered.split())
    return [
        math.log1p(len(prompt)),
        math.log1p(len(words)),
        sum(map(len, words)) / count,
        math.log1p(max(map(len, words), default=0)),
        math.log1p(text.count("\n")),
        sum(map(text.count, "0123456789")) / letters,
        sum(map(text.count, "=+*/^<>")) / letters,
        float("\\" in text or "$" in text),
        float(_CODE.search(text) is not None),
        math.log1p(len(_SENTENCE.findall(text))),
        math.log1p(text.count("?")),
        *(float(kind in asked) for kind in ASKED),
        float("___" in text or "..." in text),
        math.log1p(len(_OPTION.findall(text))),
        float("statements" in asked),
        float("none_of_these" in asked),
        float(len(words) > 4 and english / count < 0.1),
        0.0 if text.isascii() else sum(character > "\u02af" for character in text) / letters,
    ]


def hashed(prompt: str) -> list[int]:
    """The buckets that words and word pairs fill, each once and in order, so that repeating dilutes nothing."""
    text = shortened(prompt).lower()
    words = [b" 0" if word[0].isdigit() else f" {word}".encode("utf-8", "replace") for word in _WORD.findall(text)]
    hashes = [crc32(word[1:]) for word in words]
    filled = {value % BUCKETS for value in hashes}
    # CRC-32 goes on where it ended, so the hash of a pair takes its second word alone.
    filled |= {crc32(after, value) % BUCKETS for value, after in zip(hashes, words[1:], strict=False)}
    return sorted(filled)


def shortened(prompt: str) -> str:
    """Both ends of a prompt that is longer than is looked at."""
    if len(prompt) <= CHARACTERS_MAX:
        return prompt
    half = CHARACTERS_MAX // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"
