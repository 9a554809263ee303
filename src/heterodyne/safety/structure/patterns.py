"""Regular expressions that an operator writes: what they may be, so that no text takes for ever to search.

Refused is what repeats a repetition, such as `(a+)+`, whose time doubles with each character. A pattern may still take
the square of its text's length, which is why texts are bounded too.
"""

import re
from collections.abc import Iterator
from typing import Final

from heterodyne.domain.errors import InvalidSpec

PATTERN_CHARS_MAX: Final = 512
_PIECES: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[^)<=!:>]*[<=!:>]{1,2})?|\)|[*+]|\{\d*(?:,\d*)?\}|.", re.DOTALL
)
REPEATS_BOUNDED: Final = 16  # times that are as good as once


def compiled(pattern: str, setting: str) -> re.Pattern[str]:
    """Raises InvalidSpec, with the setting that it stands in."""
    if len(pattern) > PATTERN_CHARS_MAX:
        raise InvalidSpec(f"`{setting}` has a pattern of more than {PATTERN_CHARS_MAX} characters")
    try:
        made = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidSpec(f"`{setting}` has {pattern!r}, which is no regular expression: {error}") from None
    if made.search("") is not None:
        raise InvalidSpec(f"`{setting}` has {pattern!r}, which is found in every text")
    if _repeats_repetitions(pattern):
        raise InvalidSpec(f"`{setting}` has {pattern!r}, which repeats a repetition and may take for ever; unfold it")
    return made


def _repeats_repetitions(pattern: str) -> bool:
    """Whether a group that has an unbounded repetition in it, or another group that has, is repeated itself."""
    inside: list[bool] = [False]  # of each open group: whether anything in it is repeated
    closed = False  # whether the piece before was a group with a repetition in it
    for piece in _pieces(pattern):
        if piece.startswith("("):
            inside.append(False)
            closed = False
        elif piece == ")" and len(inside) > 1:
            closed = inside.pop()
            inside[-1] |= closed
        elif _is_unbounded(piece):
            if closed:
                return True
            inside[-1] = True
            closed = False
        else:
            closed = False
    return False


def _pieces(pattern: str) -> Iterator[str]:
    return (match[0] for match in _PIECES.finditer(pattern))


def _is_unbounded(piece: str) -> bool:
    if piece in ("*", "+"):
        return True
    if not piece.startswith("{") or not piece.endswith("}"):
        return False
    most = piece[1:-1].rpartition(",")[2]
    return not most or int(most) > REPEATS_BOUNDED
