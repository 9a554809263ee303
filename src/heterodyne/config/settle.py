"""Given values become Settings, or one error that lists everything wrong with them."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from heterodyne.config.checks import CHECKS
from heterodyne.config.conversion import convert
from heterodyne.config.fields import POOLS, Field, Path, try_field
from heterodyne.config.layers import Given, Origin
from heterodyne.config.problems import Problem, SettingsProblems
from heterodyne.config.settings import SECTIONS, Settings
from heterodyne.config.suggestions import nearest, unknown
from heterodyne.fleet.settings import PoolSettings
from heterodyne.registry.defaults import DEFAULT_POOLS


def settle(given: Mapping[Path, Given], environment: Mapping[str, str]) -> Settings:
    """Judge every value alone, then the values together; raise once, with all problems."""
    problems: list[Problem] = []
    broken: set[str] = set()
    values: dict[Path, object] = {}
    pools = _pool_names(given)
    for one in given.values():
        field = try_field(one.path)
        if field is not None:
            found = _judge(field, one, values)
        elif _is_somebody_elses(one, given) or _is_empty_pool(one):
            found = ()
        else:
            found = (unknown(one, pools),)
        if found:
            problems += found
            broken.add(".".join(one.path))
            if one.path[0] == POOLS and len(one.path) == 2:
                broken.add(POOLS)  # a pool was meant, so "no pools" would mislead

    for pool in pools:
        if (POOLS, pool, "model") not in values:
            path = f"pools.{pool}.model"
            if path not in broken:
                problems.append(Problem(path=path, message=_model_required(pool, pools)))
                broken.add(path)
            values[POOLS, pool, "model"] = pool  # keeps the other checks going

    settings = _build(values, pools)
    problems += _cross_check(settings, environment, broken)
    if problems:
        raise SettingsProblems(tuple(problems))
    return settings


def _judge(field: Field, given: Given, values: dict[Path, object]) -> tuple[Problem, ...]:
    converted = convert(field, given.value, is_text=given.is_text)
    if not converted.misfits:
        values[field.path] = converted.value
    return tuple(
        Problem(
            path=field.dotted if misfit.index is None else f"{field.dotted}[{misfit.index}]",
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


def _is_somebody_elses(given: Given, all_given: Mapping[Path, Given]) -> bool:
    """A variable that a pool reads its key from is not a misspelt setting, whatever its name."""
    return given.origin is Origin.ENVIRONMENT and any(
        other.path[-1] == "api_key_env" and other.value == given.spelling for other in all_given.values()
    )


def _is_empty_pool(given: Given) -> bool:
    """`[pools.chat]` or `[pools]` with nothing inside; what is missing is reported in their place."""
    return given.path[0] == POOLS and len(given.path) <= 2 and given.value == {}


def _pool_names(given: Mapping[Path, Given]) -> tuple[str, ...]:
    """Pools somebody declared: with settings inside, or as an empty table."""
    return tuple(
        dict.fromkeys(
            one.path[1]
            for one in given.values()
            if one.path[0] == POOLS and (len(one.path) == 3 or (len(one.path) == 2 and one.value == {}))
        )
    )


def _model_required(pool: str, pools: tuple[str, ...]) -> str:
    """A pool without a model is often a misspelt pool."""
    others = [name for name in (*pools, *DEFAULT_POOLS) if name != pool]
    near = nearest(pool, others)
    message = "required; the public name clients ask for"
    return f'{message}. Did you mean pool "{near}"?' if near else message


def _build(values: Mapping[Path, object], pools: tuple[str, ...]) -> Settings:
    # A value that was refused is missing here, so its default stands in; the error is raised anyway.
    sections = {name: struct(**_under(values, (name,))) for name, struct in SECTIONS.items()}
    named_pools = {name: PoolSettings(**_under(values, (POOLS, name))) for name in pools}
    return msgspec.structs.replace(Settings(), **sections, pools=named_pools)


def _under(values: Mapping[Path, object], prefix: Path) -> dict[str, Any]:
    return {path[-1]: value for path, value in values.items() if path[:-1] == prefix}


def _cross_check(settings: Settings, environment: Mapping[str, str], broken: set[str]) -> Iterator[Problem]:
    """What the values say together, less what rests on a value already refused."""
    for check in CHECKS:
        for problem in check(settings, environment):
            if broken.isdisjoint((problem.path.partition("[")[0], *problem.rests_on)):
                yield problem
