"""Differences that make two prompts ask different things however near their embeddings are.

Embeddings hardly move when a number, a name or a "not" changes, and the answer does. Each rule compares what two
readings have of one kind; the first that differs is the reason. None means that no rule objects, not that the prompts
are the same: that is what the score is for.
"""

from typing import Final

from heterodyne.caching.semantic import lexicon
from heterodyne.caching.semantic.reading import PromptReading, stem

CODE: Final = "code"
NUMBER: Final = "number"
DATE: Final = "date"
UNIT: Final = "unit"
NEGATION: Final = "negation"
NAME: Final = "name"  # each has one that the other lacks
NAME_ADDED: Final = "name_added"  # one has one more
SYMBOL: Final = "symbol"
OPPOSITE: Final = "opposite"
QUESTION: Final = "question"
ORDER: Final = "order"

RULES: Final = (CODE, NUMBER, DATE, UNIT, NEGATION, NAME, SYMBOL, OPPOSITE, QUESTION, ORDER, NAME_ADDED)

# By these nothing is served, however sure the score is. The others are evidence that the score weighs.
VETOES: Final = frozenset({CODE, NUMBER, DATE, UNIT, NEGATION, NAME, SYMBOL, OPPOSITE, ORDER})

# Kinds of questions that the same answer serves now and then: "how do I" and "what is the best way to", "can I".
_KINDS_LOOSE: Final = frozenset({"manner", "thing", "yes_no", ""})


def difference(first: PromptReading, second: PromptReading) -> str | None:
    """The rule by which two prompts differ; None where no rule objects. The order of the two does not matter."""
    if first.code != second.code:
        return CODE
    if first.numbers != second.numbers and not _is_one_in_words(first, second):
        return NUMBER
    if first.dates != second.dates:
        return DATE
    if first.units != second.units and first.units and second.units:
        return UNIT
    if first.is_negated != second.is_negated:
        return NEGATION
    others = _has_other_names(first, second) + _has_other_names(second, first)
    if others == 2:
        return NAME
    if first.symbols != second.symbols:
        return SYMBOL
    if _is_opposite(first, second):
        return OPPOSITE
    if first.kind != second.kind and not (first.kind in _KINDS_LOOSE and second.kind in _KINDS_LOOSE):
        return QUESTION
    if _is_turned_round(first, second):
        return ORDER
    return NAME_ADDED if others else None


def _is_one_in_words(first: PromptReading, second: PromptReading) -> bool:
    """Whether the numbers differ by "1" for "one" alone."""
    return first.numbers ^ second.numbers == {"1"} and "one" in (second if "1" in first.numbers else first).words


def _has_other_names(first: PromptReading, second: PromptReading) -> bool:
    """Whether a name is in the first prompt alone; written small or in the plural it is in the second as well."""
    return any(name not in second.words and stem(name) not in second.stems for name in first.names - second.names)


def _is_opposite(first: PromptReading, second: PromptReading) -> bool:
    """Whether one has one side of a pair alone, and the other one the other side alone."""
    for pair, side in first.sides - second.sides:
        other = (pair, 1 - side)
        if other in second.sides and other not in first.sides:
            return True
    return False


def _is_turned_round(first: PromptReading, second: PromptReading) -> bool:
    """Whether the same words stand on the other sides of "than", "to" or "from": lend to, faster than, from A to B."""
    if first.words == second.words or first.content != second.content:
        return False
    for word in lexicon.DIRECTIONS.intersection(first.words).intersection(second.words):
        one, other = _sides(first.words, word), _sides(second.words, word)
        if one[0] & other[1] - one[1] and one[1] & other[0] - one[0]:
            return True
    return False


def _sides(words: tuple[str, ...], word: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words before and after that are no function words."""
    at = words.index(word)
    return (
        frozenset(words[:at]) - lexicon.FUNCTION_WORDS,
        frozenset(words[at + 1 :]) - lexicon.FUNCTION_WORDS,
    )
