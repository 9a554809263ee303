"""The result that a text comes to, in a form in which equal results are equal strings."""

import re
from typing import Final

_MARKED: Final = re.compile(
    r"(?:####|\\boxed\{|\b(?:final )?answer(?: is|:)|^A:)\s*([^\n}]*)", re.IGNORECASE | re.MULTILINE
)
_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_OPTION: Final = re.compile(r"\(?([A-J])\)?(?:[.:)]|$)")
_SPACE: Final = re.compile(r"[\W_]+")
_SHORT_MAX: Final = 80  # characters of a marked result that is compared as words


def result_of(text: str) -> str | None:
    """What stands behind a mark, else the last number, else all words; None where there is nothing."""
    marked = [found.strip() for found in _MARKED.findall(text) if found.strip(" *$.")]
    if marked:
        return _of_marked(marked[0])  # what a model writes after its result is often another question of its own
    numbers = _NUMBER.findall(text)
    if numbers:
        return _number(numbers[-1])
    return _words(text)


def _of_marked(marked: str) -> str | None:
    option = _OPTION.match(marked.strip(" *"))
    if option:
        return option[1]
    number = _NUMBER.search(marked)
    if number:
        return _number(number[0])
    return _words(marked[:_SHORT_MAX])


def _number(written: str) -> str:
    return f"{float(written.replace(',', '')):.12g}"


def _words(text: str) -> str | None:
    return _SPACE.sub(" ", text.lower()).strip() or None
