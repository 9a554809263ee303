"""A name nobody knows becomes an error with the names most like it."""

import difflib
import re
from collections.abc import Iterable

from msgspec import Struct

from heterodyne.domain.errors import UnknownName

UNKNOWN_FIELD = re.compile("unknown field `([^`]*)`")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name of this kind that is not among the known ones."""
    known = list(known)
    near = difflib.get_close_matches(name.lower(), known, n=3) or [one for one in known if name.lower() in one][:3]
    hint = f"did you mean {_listed(near)}?" if near else f"known: {', '.join(known)}"
    return UnknownName(f'no {kind} "{name}"; {hint}')


def with_near_field(complaint: str, *kinds: type[Struct]) -> str:
    """msgspec's sentence about an unknown field, with the field of these structs that is most like it."""
    unknown = UNKNOWN_FIELD.search(complaint)
    fields = list(dict.fromkeys(name for kind in kinds for name in kind.__struct_fields__))
    near = difflib.get_close_matches(unknown[1], fields, n=1) if unknown else []
    return f'{complaint}; did you mean "{near[0]}"?' if near else complaint


def _listed(names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
