"""Where the digits of a text are: the parts in which a number could stand, and how many digits it could have."""

import re
from typing import Final

from heterodyne.safety.glance import DIGIT, Glance

# Digits of one number: little stands between them, and that is letters or what groups digits. Prose and the commas of
# a table are not. An IBAN of Malta has two words of capitals between two of its digits.
NUMBER: Final = re.compile(
    r"[0-9]++(?:(?:[-./()+ ]{1,3}+|[A-Za-z]{1,8}+[-. ]?|(?:[- ]?[A-Z]{1,4}){1,3}+[- ]?)(?=[0-9])[0-9]++)*+"
)
REACH_BEFORE: Final = 16  # letters before the first digit, as in a fiscal code or a number plate
REACH_LETTERS: Final = 12  # letters after the last digit
REACH_AFTER: Final = 96  # characters of one word after the last digit; a segwit address has at most 90


class Cluster:
    """A part of a text, from `start` to `end`. `digits` are those of the longest number in it."""

    __slots__ = ("digits", "end", "start")

    def __init__(self, start: int, end: int, digits: int) -> None:
        self.start = start
        self.end = end
        self.digits = digits


def clusters(glance: Glance) -> list[Cluster]:
    """The parts of a text with digits, in order; parts that touch are one."""
    text, kinds = glance.text, glance.kinds
    found: list[Cluster] = []
    first = kinds.find(DIGIT)
    while first >= 0:
        number = NUMBER.match(text, first)
        last = number.end() if number is not None else first + 1  # a digit begins one, always
        start = first - REACH_BEFORE if first > REACH_BEFORE else 0
        end = _word_end(text, last)
        digits = kinds.count(DIGIT, first, last)
        if found and start <= found[-1].end:
            found[-1].end = end
            if digits > found[-1].digits:
                found[-1].digits = digits
        else:
            found.append(Cluster(start, end, digits))
        first = kinds.find(DIGIT, last)
    return found


def _word_end(text: str, at: int) -> int:
    """The end of the word some characters after the last digit: letters may follow it, as in `M1 1AA` and `12 ABC`."""
    size = len(text)
    end = at + REACH_LETTERS
    if end >= size:
        return size
    limit = min(size, at + REACH_AFTER)
    while end < limit and text[end].isalnum():
        end += 1
    return end
