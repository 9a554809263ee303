"""The settings that hold, one row each, with where each came from."""

import msgspec
from msgspec import Struct

from heterodyne.config.fields import Field, fields, named_fields
from heterodyne.config.layers import Origin
from heterodyne.config.listed_prices import PRICE_FIELDS
from heterodyne.config.load import Resolved
from heterodyne.config.settings import NAMED
from heterodyne.config.template import toml_value
from heterodyne.domain.url_secrets import origin_of, shown

WEBHOOKS = "alerts.webhooks"


class Effective(Struct, frozen=True, kw_only=True):
    """One setting as it holds, fit to be shown."""

    path: str
    value: object
    origin: str

    @property
    def text(self) -> str:
        """The value as the settings file would spell it; TOML has no word for an absence."""
        return "(absent)" if self.value is None else toml_value(self.value)


def effective(resolved: Resolved) -> tuple[Effective, ...]:
    """Every section's settings, then every pool's and model's, in the order the reference lists them."""
    named = (
        field for table in NAMED for name in getattr(resolved.settings, table) for field in named_fields(table, name)
    )
    return tuple(_row(resolved, field) for field in (*fields(), *named))


def _row(resolved: Resolved, field: Field) -> Effective:
    section, *_name, last = field.path
    holder = getattr(resolved.settings, section)
    value = msgspec.structs.asdict(holder[field.path[1]] if section in NAMED else holder)[last]
    origin = resolved.origin(field.path)
    if origin is Origin.DEFAULT and last in PRICE_FIELDS and value is not None:
        origin = Origin.PRICE_LIST
    return Effective(path=field.dotted, value=_shown(field.dotted, value), origin=origin)


def _shown(path: str, value: object) -> object:
    """Passwords inside addresses are never shown, nor is the path of a webhook, which is its password."""
    if path == WEBHOOKS and isinstance(value, dict):
        value = {name: _webhook(table) for name, table in value.items()}
    return shown(value)


def _webhook(table: object) -> object:
    if not isinstance(table, dict) or not isinstance(table.get("url"), str):
        return table
    return {**table, "url": origin_of(table["url"])}
