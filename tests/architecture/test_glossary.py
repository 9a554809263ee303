"""The glossary holds what a newcomer to the field would not know, and no more."""

import re

from tests.architecture import source

ENTRIES_MAX = 85
PAGE = source.ROOT / "docs" / "glossary.md"


def entries() -> list[str]:
    """The words of the table, in its order."""
    rows = re.findall(r"^\| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [row for row in rows if row != "Word"]


def test_the_glossary_is_short() -> None:
    assert len(entries()) <= ENTRIES_MAX


def test_each_word_is_there_once_and_in_order() -> None:
    assert entries() == sorted(set(entries()), key=str.lower)
