"""Every setting as a value: its path, its type, its default and the sentence that explains it."""

import json
import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from heterodyne.config.settings import NAMED, SECTIONS

ENVIRONMENT_PREFIX = "HETERODYNE_"
POOLS = "pools"
MODELS = "models"
GUARDS = "guards"
ABUSE = "abuse"
CACHES = "caches"
CASCADES = "cascades"
KV_STORES = "kv_stores"
ANY_NAME = "<name>"  # stands for the name an operator gives
BARE_KEY = re.compile("[A-Za-z0-9_-]+")  # what TOML takes as a key without quotes
REQUIRED = msgspec.NODEFAULT  # the default of a field that has none
DOT_OUTSIDE_QUOTES = re.compile(r'\.(?=(?:[^"]*"[^"]*")*[^"]*$)')

Path = tuple[str, ...]


class Field(Struct, frozen=True, kw_only=True):
    """One setting. `type` is what a present value must be; absence is allowed where `is_optional`."""

    path: Path
    type: Any
    is_optional: bool
    default: object
    description: str

    @property
    def dotted(self) -> str:
        return dotted(*self.path)

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


def fields() -> tuple[Field, ...]:
    """The settings of every section, in the order the structs list them; what has a name is asked for by it."""
    return tuple(field for name in SECTIONS for field in section_fields(name))


@cache
def section_fields(section: str) -> tuple[Field, ...]:
    """The settings of one section."""
    return _fields_of(SECTIONS[section], (section,))


@cache
def named_fields(table: str, name: str) -> tuple[Field, ...]:
    """The settings of one section of a table whose sections have names, such as one pool."""
    return _fields_of(NAMED[table], (table, name))


def pool_fields(pool: str) -> tuple[Field, ...]:
    """The settings of one pool."""
    return named_fields(POOLS, pool)


def try_field(path: Path) -> Field | None:
    """The setting at a path, or None where there is no such setting."""
    if len(path) == 2 and path[0] in SECTIONS:
        candidates = section_fields(path[0])
    elif len(path) == 3 and path[0] in NAMED:
        candidates = named_fields(path[0], path[1])
    else:
        return None
    return next((field for field in candidates if field.path == path), None)


def dotted(*path: str) -> str:
    """A path as TOML spells it: `models."llama-3.1-70b".aliases`."""
    return ".".join(part if part == ANY_NAME else toml_key(part) for part in path)


def from_dotted(text: str) -> Path:
    """The path in a dotted text, parts of which may stand in quotes."""
    return tuple(part.strip('"') for part in DOT_OUTSIDE_QUOTES.split(text))


def toml_key(key: str) -> str:
    """A key as TOML spells it, in quotes where it must be."""
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def environment_name(path: Path) -> str:
    """The environment variable that sets a path."""
    return ENVIRONMENT_PREFIX + re.sub("[^A-Z0-9_]", "_", "__".join(path).upper())


def _fields_of(struct: type[Struct], prefix: Path) -> tuple[Field, ...]:
    hints = get_type_hints(struct, include_extras=True)
    return tuple(_field(hints[info.name], (*prefix, info.name), info) for info in msgspec.structs.fields(struct))


def _field(annotation: Any, path: Path, info: msgspec.structs.FieldInfo) -> Field:
    base, metas = _unwrap(annotation)
    is_optional = get_origin(base) in (Union, UnionType)
    if is_optional:
        (present,) = (member for member in get_args(base) if member is not type(None))
    return Field(
        path=path,
        type=present if is_optional else annotation,
        is_optional=is_optional,
        default=info.default if info.default_factory is REQUIRED else info.default_factory(),
        description=next((meta.description for meta in metas if meta.description), ""),
    )


def _unwrap(annotation: Any) -> tuple[Any, tuple[Meta, ...]]:
    if get_origin(annotation) is not Annotated:
        return annotation, ()
    base, *metas = get_args(annotation)
    return base, tuple(meta for meta in metas if isinstance(meta, Meta))
