"""A name that matches no setting becomes a problem that names the nearest one that would."""

import difflib
from collections.abc import Iterable

from heterodyne.config.fields import (
    POOLS,
    Field,
    Path,
    environment_name,
    fields,
    pool_fields,
    section_fields,
)
from heterodyne.config.layers import Given, Origin
from heterodyne.config.problems import Problem
from heterodyne.config.settings import SECTIONS

ANY_POOL = "<name>"  # stands for the name an operator gives


def unknown(given: Given, pools: tuple[str, ...]) -> Problem:
    """The problem of a path that is not a setting; `pools` are the names declared."""
    if given.origin is Origin.ENVIRONMENT:
        return _unknown_variable(given, pools)
    section, *rest = given.path
    if not rest and (section in SECTIONS or section == POOLS):
        return _say(given, "expected a section with settings in it")
    if section not in SECTIONS and section != POOLS:
        return _say(given, "no such section", _nearest_section(given.path))
    if section == POOLS and len(rest) == 1:
        return _say(given, f"expected a section [pools.{rest[0]}] with settings in it")
    names = section_fields(section) if section in SECTIONS else pool_fields(ANY_POOL)
    last = rest[0] if section in SECTIONS else rest[1]
    return _say(given, "no such setting", nearest(last, (field.path[-1] for field in names)))


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like a name, None when nothing is near."""
    found = difflib.get_close_matches(name, list(candidates), n=1)
    return found[0] if found else None


def _unknown_variable(given: Given, pools: tuple[str, ...]) -> Problem:
    known = [environment_name(field.path) for field in _all_fields(pools)]
    return _say(given, "no such setting", nearest(given.spelling, known))


def _nearest_section(path: Path) -> str | None:
    """A section like the first word, else the setting of that very name in the section it belongs to."""
    if near := nearest(path[0], (*SECTIONS, POOLS)):
        return ".".join((near, *path[1:]))
    return next((field.dotted for field in fields() if field.path[-1] == path[-1]), None)


def _all_fields(pools: tuple[str, ...]) -> tuple[Field, ...]:
    return (*fields(), *(field for pool in pools for field in pool_fields(pool)))


def _say(given: Given, message: str, near: str | None = None) -> Problem:
    return Problem(path=given.spelling, message=f'{message}; did you mean "{near}"?' if near else message)
