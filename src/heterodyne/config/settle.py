"""Given values become Settings, or one error that lists everything wrong with them."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from heterodyne.config.checks.catalogue import CHECKS
from heterodyne.config.conversion import convert
from heterodyne.config.fields import POOLS, Field, Path, dotted, named_fields, try_field
from heterodyne.config.inference_pools import with_inference_pools
from heterodyne.config.layers import Given, Origin
from heterodyne.config.listed_prices import with_listed_prices
from heterodyne.config.problems import SettingProblem, SettingsProblems
from heterodyne.config.settings import NAMED, SECTIONS, Settings
from heterodyne.config.suggestions import Names, is_cut_by_dots, nearest, unknown
from heterodyne.registry.defaults import DEFAULT_POOLS


def settle(given: Mapping[Path, Given], environment: Mapping[str, str]) -> Settings:
    """Judge every value alone, then the values together; raise once, with all problems."""
    problems: list[SettingProblem] = []
    broken: set[str] = set()
    values: dict[Path, object] = {}
    declared = {table: _names(given, table) for table in NAMED}
    for one in given.values():
        field = try_field(one.path)
        if field is not None:
            found = _judge(field, one, values)
        elif _is_anothers(one, given) or _is_empty_section(one):
            found = ()
        else:
            found = (unknown(one, declared),)
        if found:
            problems += found
            broken.add(dotted(*one.path))
            if one.path[0] in NAMED and (len(one.path) == 2 or is_cut_by_dots(one)):
                broken.add(one.path[0])  # a pool was meant, so "no pools" would mislead

    for field in _missing(values, declared):
        if field.dotted not in broken:
            problems.append(SettingProblem(path=field.dotted, message=_required(field, declared)))
            broken.add(field.dotted)
        values[field.path] = field.path[1]  # keeps the other checks going

    settings, unfound = with_inference_pools(_build(values, declared))
    settings, unpriced = with_listed_prices(settings)
    problems += (problem for problem in (*unfound, *unpriced) if _stands(problem, broken))
    problems += _cross_check(settings, environment, broken)
    if problems:
        raise SettingsProblems(tuple(problems))
    return settings


def _judge(field: Field, given: Given, values: dict[Path, object]) -> tuple[SettingProblem, ...]:
    converted = convert(field, given.value, is_text=given.is_text)
    if not converted.misfits:
        values[field.path] = converted.value
    return tuple(
        SettingProblem(
            path=field.dotted + misfit.place,
            message=misfit.message + _source(given),
        )
        for misfit in converted.misfits
    )


def _source(given: Given) -> str:
    """Where to look when it is not the file."""
    match given.origin:
        case Origin.ENVIRONMENT:
            return f" (from {given.spelling})"
        case Origin.FLAG:
            return " (from a flag)"
        case _:
            return ""


def _is_anothers(given: Given, all_given: Mapping[Path, Given]) -> bool:
    """A variable that a secret is read from is not a misspelt setting, whatever its name."""
    return given.origin is Origin.ENVIRONMENT and any(
        other.path[-1].endswith("_env") and other.value == given.spelling for other in all_given.values()
    )


def _is_empty_section(given: Given) -> bool:
    """`[pools.chat]` or `[pools]` with nothing inside; what is missing is reported in their place."""
    return given.path[0] in NAMED and len(given.path) <= 2 and given.value == {}


def _names(given: Mapping[Path, Given], table: str) -> tuple[str, ...]:
    """Names that were declared: with settings inside, or as an empty table; the first half of a cut name is none."""
    return tuple(
        dict.fromkeys(
            one.path[1]
            for one in given.values()
            if one.path[0] == table
            and ((len(one.path) == 3 and not is_cut_by_dots(one)) or (len(one.path) == 2 and one.value == {}))
        )
    )


def _missing(values: Mapping[Path, object], declared: Names) -> Iterator[Field]:
    for table, names in declared.items():
        for name in names:
            yield from (field for field in named_fields(table, name) if field.is_required and field.path not in values)


def _required(field: Field, declared: Names) -> str:
    """A pool without its model, which is required, is often a misspelt pool."""
    table, name, _ = field.path
    defaults = DEFAULT_POOLS if table == POOLS else ()
    near = nearest(name, (other for other in (*declared[table], *defaults) if other != name))
    message = f"required; {field.description[0].lower()}{field.description[1:].rstrip('.')}"
    return f'{message}. Did you mean {table.rstrip("s")} "{near}"?' if near else message


def _build(values: Mapping[Path, object], declared: Names) -> Settings:
    # A value that was refused is missing here, so its default stands in; the error is raised anyway.
    sections = {name: struct(**_under(values, (name,))) for name, struct in SECTIONS.items()}
    named = {
        table: {name: struct(**_under(values, (table, name))) for name in declared[table]}
        for table, struct in NAMED.items()
    }
    return msgspec.structs.replace(Settings(), **sections, **named)


def _under(values: Mapping[Path, object], prefix: Path) -> dict[str, Any]:
    return {path[-1]: value for path, value in values.items() if path[:-1] == prefix}


def _cross_check(settings: Settings, environment: Mapping[str, str], broken: set[str]) -> Iterator[SettingProblem]:
    """Problems of values that depend on each other, less those that rest on a value already refused."""
    for check in CHECKS:
        for problem in check(settings, environment):
            if _stands(problem, broken):
                yield problem


def _stands(problem: SettingProblem, broken: set[str]) -> bool:
    return broken.isdisjoint((problem.path.partition("[")[0], *problem.rests_on))
