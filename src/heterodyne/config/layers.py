"""Default pools, file, environment and flags laid over one another: for each path, the value that wins."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct

from heterodyne.config.fields import (
    ENVIRONMENT_PREFIX,
    POOLS,
    Path,
    dotted,
    environment_name,
    from_dotted,
    pool_fields,
)
from heterodyne.config.settings import NAMED, SECTIONS
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.stores.settings import CACHE_KEY_VARIABLE

CONFIG_VARIABLE = "HETERODYNE_CONFIG"
API_KEY_VARIABLE = "HETERODYNE_API_KEY"
OPERATOR_KEY_VARIABLE = "HETERODYNE_OPERATOR_KEY"
NOT_SETTINGS = frozenset({CONFIG_VARIABLE, API_KEY_VARIABLE, OPERATOR_KEY_VARIABLE, CACHE_KEY_VARIABLE})


class Origin(StrEnum):
    """Which layer a value came from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "env"
    FLAG = "flag"
    PRICE_LIST = "price list"


class Given(Struct, frozen=True, kw_only=True):
    """One value from a file, a variable or a flag, not yet checked."""

    path: Path
    value: object
    origin: Origin
    spelling: str  # as it was written: a dotted path, a variable name

    @property
    def is_text(self) -> bool:
        return self.origin in (Origin.ENVIRONMENT, Origin.FLAG)


def winners(
    document: Mapping[str, object], environment: Mapping[str, str], overrides: Mapping[str, str]
) -> dict[Path, Given]:
    """Flag over environment over file over default, path by path."""
    from_file = tuple(_from_file(document))
    from_flags = tuple(_from_overrides(overrides))
    declared = {table: _names((*from_file, *from_flags), table) for table in NAMED}
    declared[POOLS] = declared[POOLS] or list(DEFAULT_POOLS)
    from_environment = tuple(_from_environment(environment, declared))

    layers = (*from_file, *from_environment, *from_flags)
    if _uses_default_pools(from_file, layers):
        layers = (*_default_pools(), *layers)
    return {given.path: given for given in layers}


def _from_file(document: Mapping[str, object]) -> Iterator[Given]:
    for key, value in document.items():
        if key in NAMED and isinstance(value, dict) and value:
            for name, section in value.items():
                yield from _table((key, name), section)
        elif key in SECTIONS and isinstance(value, dict):
            if value:
                yield from _table((key,), value)
        else:
            yield _filed((key,), value)


def _table(path: Path, table: object) -> Iterator[Given]:
    if isinstance(table, dict) and table:
        yield from (_filed((*path, key), value) for key, value in table.items())
    else:
        yield _filed(path, table)


def _filed(path: Path, value: object) -> Given:
    return Given(path=path, value=value, origin=Origin.FILE, spelling=dotted(*path))


def _from_environment(environment: Mapping[str, str], declared: Mapping[str, list[str]]) -> Iterator[Given]:
    for name, value in environment.items():
        if name.startswith(ENVIRONMENT_PREFIX) and name not in NOT_SETTINGS:
            path = tuple(name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__"))
            yield Given(
                path=_with_name_as_declared(path, declared.get(path[0], [])),
                value=value,
                origin=Origin.ENVIRONMENT,
                spelling=name,
            )


def _with_name_as_declared(path: Path, names: list[str]) -> Path:
    """Variable names have no capitals, dashes or dots to give, so they are matched to a declared name that has."""
    if len(path) < 3 or path[1] in names:
        return path
    spelled = environment_name((path[1],))
    return next(((path[0], name, *path[2:]) for name in names if environment_name((name,)) == spelled), path)


def _from_overrides(overrides: Mapping[str, str]) -> Iterator[Given]:
    for key, value in overrides.items():
        yield Given(path=from_dotted(key), value=value, origin=Origin.FLAG, spelling=key)


def _names(layer: tuple[Given, ...], table: str) -> list[str]:
    return list(dict.fromkeys(given.path[1] for given in layer if given.path[0] == table and len(given.path) > 1))


def _uses_default_pools(from_file: tuple[Given, ...], layers: tuple[Given, ...]) -> bool:
    """The default pools stand until a file declares pools or a variable or flag names one of its own."""
    if any(given.path[0] == POOLS for given in from_file):
        return False
    return all(name in DEFAULT_POOLS for name in _names(layers, POOLS))


def _default_pools() -> Iterator[Given]:
    for name, pool in DEFAULT_POOLS.items():
        values = msgspec.structs.asdict(pool)
        for field in pool_fields(name):
            value = values[field.path[-1]]
            if value != field.default:
                yield Given(path=field.path, value=value, origin=Origin.DEFAULT, spelling=field.dotted)
