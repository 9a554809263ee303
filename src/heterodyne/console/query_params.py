"""Reads parameters of a URL's query that several paths share."""

from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from heterodyne.domain.errors import InvalidField

Member = TypeVar("Member", bound=StrEnum)

MOMENT = {"type": "number", "minimum": 0}
MOMENT_MAX = 1e11  # milliseconds, given for seconds, are beyond


def check_names(params: Mapping[str, str], known: set[str]) -> None:
    """Raise for unknown names: a filter that is misspelt would show the usage of all tenants."""
    for name in params:
        if name not in known:
            raise InvalidField(f"{name[:50]}: there is no such parameter; there are {', '.join(sorted(known))}.")


def read_moment(params: Mapping[str, str], name: str) -> float | None:
    """Seconds since the epoch; None: it is absent."""
    return read_number(params, name, "seconds since the epoch are expected", MOMENT_MAX)


def read_number(params: Mapping[str, str], name: str, expected: str, beyond: float) -> float | None:
    """A number from zero on; None: it is absent."""
    if name not in params:
        return None
    try:
        number = float(params[name])
    except ValueError:
        number = -1.0
    if not 0 <= number < beyond:
        raise InvalidField(f"{name}: {expected}.", param=name)
    return number


def read_whole(params: Mapping[str, str], name: str, least: int, most: int) -> int | None:
    """A whole number; None: it is absent."""
    if name not in params:
        return None
    word = params[name]
    if not word.isascii() or not word.isdigit() or len(word) > len(str(most)) or not least <= int(word) <= most:
        raise InvalidField(f"{name}: a whole number from {least} to {most} is expected.", param=name)
    return int(word)


def read_members(kind: type[Member], name: str, noun: str, params: str) -> tuple[Member, ...]:
    """Members of a closed set, separated by commas."""
    words = [word.strip() for word in params.split(",") if word.strip()]
    for word in words:
        if word not in list(kind):
            near = get_close_matches(word, list(kind), n=1)
            hint = f'Did you mean "{near[0]}"? ' if near else ""
            raise InvalidField(f'{name}: no {noun} "{word[:50]}". {hint}There are {", ".join(kind)}.', param=name)
    return tuple(kind(word) for word in words)


def read_flag(params: Mapping[str, str], name: str) -> bool:
    """Whether it is set."""
    word = params.get(name, "false")
    if word not in ("true", "false"):
        raise InvalidField(f"{name}: true or false is expected.", param=name)
    return word == "true"
