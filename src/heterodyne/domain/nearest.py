"""A name nobody knows becomes an error with the names most like it."""

import difflib
import re
from collections.abc import Iterable

from msgspec import Struct

from heterodyne.domain.errors import UnknownName

UNKNOWN_FIELD = re.compile("unknown field `([^`]*)`")
SHOWN_CHARS_MAX = 100
COMPARED_CHARS_MAX = 64  # comparing takes the product of the lengths, and names may be a client's
COMPARED_MAX = 50


def shown(name: str) -> str:
    """A name that somebody else has made up, as long as it helps to see it."""
    return name if len(name) <= SHOWN_CHARS_MAX else name[:SHOWN_CHARS_MAX] + "…"


def try_nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like it; of very many only those are compared that begin as it does."""
    if len(name) > 2 * COMPARED_CHARS_MAX:
        return None
    known = list(known)
    if len(known) > COMPARED_MAX:
        known = [one for one in known if one[:2] == name[:2]][:COMPARED_MAX]
    near = difflib.get_close_matches(name[:COMPARED_CHARS_MAX], known, n=1)
    return near[0] if near else None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name of this kind that is not among the known ones."""
    known, name = list(known), shown(name)
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
