"""The settings that hold, one row each, with where each came from."""

import msgspec
from msgspec import Struct

from heterodyne.config.fields import Field, fields, pool_fields
from heterodyne.config.load import Resolved
from heterodyne.config.template import toml_value


class Effective(Struct, frozen=True, kw_only=True):
    """One setting as it holds."""

    path: str
    value: object
    origin: str

    @property
    def text(self) -> str:
        """The value as the settings file would spell it; TOML has no word for an absence."""
        return "(absent)" if self.value is None else toml_value(self.value)


def effective(resolved: Resolved) -> tuple[Effective, ...]:
    """Every section's settings, then every pool's, in the order the reference lists them."""
    pools = resolved.settings.pools
    every = (*fields(), *(field for pool in pools for field in pool_fields(pool)))
    return tuple(_row(resolved, field) for field in every)


def _row(resolved: Resolved, field: Field) -> Effective:
    section, *rest = field.path
    holder = resolved.settings.pools[rest[0]] if section == "pools" else getattr(resolved.settings, section)
    value = msgspec.structs.asdict(holder)[rest[-1]]
    return Effective(path=field.dotted, value=value, origin=resolved.origin(field.path))
