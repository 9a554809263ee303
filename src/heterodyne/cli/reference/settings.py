"""The page of every setting, from the structs of the rooms."""

from heterodyne.cli.reference.markdown import code, table
from heterodyne.config.fields import ANY_NAME, Field, environment_name, named_fields, section_fields
from heterodyne.config.settings import NAMED, SECTIONS
from heterodyne.config.template import toml_value
from heterodyne.config.wording import expected

INTRODUCTION = """\
# Settings

One TOML file whose sections are rooms. A flag (`--set gateway.port=9000`) goes before an environment variable
(`HETERODYNE_GATEWAY__PORT=9000`), which goes before the file, which goes before the default.
[Configure Heterodyne](../guides/configure.md) explains how to use them."""
ABOUT_NAMES = {
    "pools": f"`{ANY_NAME}` is the name of the pool; without any pool declared, the default pools hold.",
    "models": f'`{ANY_NAME}` is the public name; one with dots stands in quotes, `[models."llama-3.1-70b"]`.',
    "issuers": f"`{ANY_NAME}` is the name of the issuer, which metrics and the log tell it by.",
    "guards": f"`{ANY_NAME}` is the name of the policy, which its findings are told by.",
    "abuse": f"`{ANY_NAME}` is the name of the policy, which its findings are told by.",
    "caches": f"`{ANY_NAME}` is the name of the policy; the first that holds for a request is the one that counts.",
    "cascades": f"`{ANY_NAME}` is what clients ask for: the big model's own name, or an alias of it.",
    "kv_stores": f"`{ANY_NAME}` is the name that `kv_store` of pools says.",
}
HEADER = ("Setting", "Takes", "Default", "Environment variable", "Meaning")


def page() -> str:
    """Sections in the order of the file, those with names of their own last."""
    parts = [INTRODUCTION]
    for name, struct in SECTIONS.items():
        parts.append(f"## {name}\n\n{struct.__doc__}\n\n" + table(HEADER, map(_row, section_fields(name))))
    for name, struct in NAMED.items():
        about = f"## {name}.{ANY_NAME}\n\n{struct.__doc__} {ABOUT_NAMES[name]}"
        parts.append(f"{about}\n\n" + table(HEADER, map(_row, named_fields(name, ANY_NAME))))
    return "\n\n".join(parts)


def _row(field: Field) -> tuple[str, ...]:
    variable = environment_name(tuple("NAME" if part == ANY_NAME else part for part in field.path))
    return (code(field.dotted), expected(field), _default(field), code(variable), field.description)


def _default(field: Field) -> str:
    if field.is_required:
        return "required"
    return "absent" if field.default is None else code(toml_value(field.default))
