"""Every setting as a value: its path, its type, its default and the sentence that explains it."""

from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from heterodyne.config.settings import SECTIONS
from heterodyne.fleet.settings import PoolSettings

ENVIRONMENT_PREFIX = "HETERODYNE_"
POOLS = "pools"
REQUIRED = msgspec.NODEFAULT  # the default of a field that has none

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
        return ".".join(self.path)

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED


def fields() -> tuple[Field, ...]:
    """The settings of every section, in the order the structs list them; pools are asked for by name."""
    return tuple(field for name in SECTIONS for field in section_fields(name))


@cache
def section_fields(section: str) -> tuple[Field, ...]:
    """The settings of one section."""
    return _fields_of(SECTIONS[section], (section,))


@cache
def pool_fields(pool: str) -> tuple[Field, ...]:
    """The settings of one pool."""
    return _fields_of(PoolSettings, (POOLS, pool))


def try_field(path: Path) -> Field | None:
    """The setting at a path, or None where there is no such setting."""
    if len(path) == 2 and path[0] in SECTIONS:
        candidates = section_fields(path[0])
    elif len(path) == 3 and path[0] == POOLS:
        candidates = pool_fields(path[1])
    else:
        return None
    return next((field for field in candidates if field.path == path), None)


def environment_name(path: Path) -> str:
    """The environment variable that sets a path."""
    return ENVIRONMENT_PREFIX + "__".join(path).upper().replace("-", "_")


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
