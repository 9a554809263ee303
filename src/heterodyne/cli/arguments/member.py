"""A word on the command line that names a member of a closed set."""

from enum import StrEnum
from typing import TypeVar

from heterodyne.domain.nearest import unknown_name

Member = TypeVar("Member", bound=StrEnum)


def member(kind: type[Member], word_for_it: str, word: str) -> Member:
    """The member, or an error that names the nearest one."""
    if word.lower() not in list(kind):
        raise unknown_name(word_for_it, word, list(kind))
    return kind(word.lower())
