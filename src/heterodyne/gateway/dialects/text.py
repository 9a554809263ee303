"""Input that is text or token ids, one or many."""

from typing import Annotated

from msgspec import Meta

from heterodyne.gateway.dialects.body import check_count
from heterodyne.gateway.settings import GatewaySettings

TokenId = Annotated[int, Meta(ge=0)]
Text = str | Annotated[list[str | TokenId | list[TokenId]], Meta(min_length=1)]


def measure(text: Text) -> tuple[int, int | None]:
    """Characters of the text, and tokens when every part of it is token ids."""
    if isinstance(text, str):
        return len(text), None
    if _is_ids(text):
        return 0, len(text)
    if any(isinstance(part, str) for part in text):
        return sum(len(part) for part in text if isinstance(part, str)), None
    return 0, sum(len(part) if isinstance(part, list) else 1 for part in text)


def count(text: Text) -> int:
    """How many texts there are; token ids in a row are one."""
    return 1 if isinstance(text, str) or isinstance(text[0], int) else len(text)


def check_text(field: str, text: Text, settings: GatewaySettings) -> None:
    """Refuse more texts, or more token ids, than one request may have."""
    if isinstance(text, str):
        return
    if _is_ids(text):
        check_count(field, "token ids", len(text), settings.prompt_ids_max)
        return
    check_count(field, "texts", len(text), settings.prompts_max)
    ids = sum(len(part) for part in text if isinstance(part, list))
    check_count(field, "token ids", ids, settings.prompt_ids_max)


def _is_ids(text: "list[str | int | list[int]]") -> bool:
    """Whether it is one prompt of token ids, of which there may be millions: no step in Python for each."""
    return isinstance(text[0], int) and set(map(type, text)) == {int}
