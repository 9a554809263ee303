"""A name that matches no setting becomes a problem that names the nearest one that would."""

import difflib
from collections.abc import Iterable, Mapping

from heterodyne.config.fields import (
    ANY_NAME,
    POOLS,
    Field,
    Path,
    dotted,
    environment_name,
    fields,
    named_fields,
    section_fields,
    try_field,
)
from heterodyne.config.layers import Given, Origin
from heterodyne.config.problems import SettingProblem
from heterodyne.config.settings import NAMED, SECTIONS

Names = Mapping[str, tuple[str, ...]]  # of each table whose sections have names: those declared


def unknown(given: Given, declared: Names) -> SettingProblem:
    """The problem of a path that is not a setting."""
    if given.origin is Origin.ENVIRONMENT:
        return _say(given, "no such setting", _nearest_variable(given.spelling, declared))
    section, *rest = given.path
    if section not in SECTIONS and section not in NAMED:
        return _say(given, "no such section", _nearest_section(given.path))
    if not rest:
        return _say(given, "expected a section with settings in it")
    if section in SECTIONS:
        return _no_such_setting(given, rest[0], section_fields(section))
    if len(rest) == 1:
        return _say(given, f"expected a section [{dotted(section, rest[0])}] with settings in it")
    if is_cut_by_dots(given):
        return _say_quotes(given)
    if len(rest) > 2 and (message := _try_explain_dots(given.path)):
        return _say(given, message)
    return _no_such_setting(given, rest[1], named_fields(section, ANY_NAME))


def is_cut_by_dots(given: Given) -> bool:
    """Whether it came of `[models.gpt-4.1]`, which TOML takes for a table "1" inside "gpt-4"."""
    is_inside_a_name = given.path[0] in NAMED and len(given.path) == 3
    return is_inside_a_name and isinstance(given.value, dict) and try_field(given.path) is None


def _say_quotes(given: Given) -> SettingProblem:
    table, *parts = given.path
    inner = given.value
    while isinstance(inner, dict) and len(inner) == 1 and isinstance(next(iter(inner.values())), dict):
        ((part, inner),) = inner.items()  # [models.a.b.c] is cut twice
        parts.append(part)
    name = ".".join(parts)
    if table == POOLS:
        wanted = dotted(table, name.replace(".", "-"))
        message = (
            f'a dot begins a table inside another, and a pool\'s name has none: write [{wanted}], with model = "{name}"'
        )
    else:
        message = (
            f"a dot begins a table inside another; a name with dots stands in quotes: write [{dotted(table, name)}]"
        )
    return SettingProblem(path=f"{table}.{name}", message=message)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like a name, None when nothing is near."""
    found = difflib.get_close_matches(name, list(candidates), n=1)
    return found[0] if found else None


def or_nearest(message: str, name: str, candidates: Iterable[str]) -> str:
    """The message, with the candidate most like the name where there is one."""
    near = nearest(name, candidates)
    return f'{message}; did you mean "{near}"?' if near else message


def _nearest_variable(spelling: str, declared: Names) -> str | None:
    named = (field for table, names in declared.items() for name in names for field in named_fields(table, name))
    return nearest(spelling, (environment_name(field.path) for field in (*fields(), *named)))


def _nearest_section(path: Path) -> str | None:
    """A section like the first word, else the setting of that very name in the section it belongs to."""
    if near := nearest(path[0], (*SECTIONS, *NAMED)):
        return dotted(near, *path[1:])
    return next((field.dotted for field in fields() if field.path[-1] == path[-1]), None)


def _try_explain_dots(path: Path) -> str | None:
    """A path with too many parts: into a table that is set whole, or with a name that wants quotes."""
    table, *middle, last = path
    whole = try_field(path[:3])
    if whole is not None:
        return f"{whole.path[-1]} is set as a whole: --set '{whole.dotted}={{\"{'.'.join(path[3:])}\": …}}'"
    if try_field((table, ".".join(middle), last)) is not None:
        return f"a name with dots stands in quotes: --set '{dotted(table, '.'.join(middle), last)}=…'"
    return None


def _no_such_setting(given: Given, name: str, among: tuple[Field, ...]) -> SettingProblem:
    return _say(given, "no such setting", nearest(name, (field.path[-1] for field in among)))


def _say(given: Given, message: str, near: str | None = None) -> SettingProblem:
    return SettingProblem(path=given.spelling, message=f'{message}; did you mean "{near}"?' if near else message)
