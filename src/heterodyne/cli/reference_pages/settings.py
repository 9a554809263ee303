"""The page of every setting, from the structs of the rooms."""

from heterodyne.cli.reference_pages.markdown import code, table
from heterodyne.config.fields import Field, environment_name, pool_fields, section_fields
from heterodyne.config.settings import SECTIONS
from heterodyne.config.suggestions import ANY_POOL
from heterodyne.config.template import toml_value
from heterodyne.config.wording import expected
from heterodyne.fleet.settings import PoolSettings

INTRODUCTION = """\
# Settings

One TOML file whose sections are rooms. A flag (`--set gateway.port=9000`) goes before an environment variable
(`HETERODYNE_GATEWAY__PORT=9000`), which goes before the file, which goes before the default.
[Configure Heterodyne](../guides/configure.md) explains how to use them."""
HEADER = ("Setting", "Takes", "Default", "Environment variable", "Meaning")


def page() -> str:
    """Sections in the order of the file, pools last."""
    parts = [INTRODUCTION]
    for name, struct in SECTIONS.items():
        parts.append(f"## {name}\n\n{struct.__doc__}\n\n" + table(HEADER, map(_row, section_fields(name))))
    about_pools = (
        f"## pools.{ANY_POOL}\n\n{PoolSettings.__doc__} `{ANY_POOL}` is the name of the pool; "
        "without any pool declared, the default pools hold."
    )
    parts.append(f"{about_pools}\n\n" + table(HEADER, map(_row, pool_fields(ANY_POOL))))
    return "\n\n".join(parts)


def _row(field: Field) -> tuple[str, ...]:
    variable = environment_name(field.path).replace(ANY_POOL.upper(), "NAME")
    return (code(field.dotted), expected(field), _default(field), code(variable), field.description)


def _default(field: Field) -> str:
    if field.is_required:
        return "required"
    return "absent" if field.default is None else code(toml_value(field.default))
