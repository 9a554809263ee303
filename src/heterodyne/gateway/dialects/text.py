"""Input that is text or token ids, one or many."""

from typing import Annotated

from msgspec import Meta

TokenId = Annotated[int, Meta(ge=0)]
Text = str | Annotated[list[str | TokenId | list[TokenId]], Meta(min_length=1)]


def measure(text: Text) -> tuple[int, int | None]:
    """Characters of the text, and tokens when every part of it is token ids."""
    if isinstance(text, str):
        return len(text), None
    chars = sum(len(part) for part in text if isinstance(part, str))
    if any(isinstance(part, str) for part in text):
        return chars, None
    return 0, sum(len(part) if isinstance(part, list) else 1 for part in text)


def count(text: Text) -> int:
    """How many texts there are; token ids in a row are one."""
    return 1 if isinstance(text, str) or isinstance(text[0], int) else len(text)
