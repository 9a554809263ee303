"""One thing that a guard found in a text."""

from msgspec import Struct


class Finding(Struct, frozen=True, kw_only=True, order=True):
    """Characters `start` to `end` of a text, what was found there, and how sure the guard is."""

    start: int
    end: int
    rule: str  # a word the console can show, such as "iban"
    score: float = 1.0  # 0 to 1
