"""The words before a run of capitalised ones, which say what kind of name it is."""

from typing import Final

CHARACTERS: Final = 48
NOTHING: Final = ("", "", "")
QUOTES: Final = "\"'“”‘(["


class Before:
    """The last words before a place in a text, in small letters, with the punctuation that follows them."""

    __slots__ = ("last", "last_three", "last_two", "second", "third")

    def __init__(self, text: str, start: int) -> None:
        words = text[max(0, start - CHARACTERS) : start].lower().replace("’", "'").rstrip(QUOTES).split()[-3:]
        self.third, self.second, self.last = (*NOTHING, *words)[-3:]
        self.last_two = f"{self.second} {self.last}"
        self.last_three = f"{self.third} {self.last_two}"

    def ends_with(self, phrases: frozenset[str]) -> bool:
        """Whether one of the phrases stands right before; phrases have three words at most."""
        return self.last in phrases or self.last_two in phrases or self.last_three in phrases
