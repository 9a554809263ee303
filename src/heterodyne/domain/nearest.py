"""A name nobody knows becomes an error with the names most like it."""

import difflib
from collections.abc import Iterable

from heterodyne.domain.errors import UnknownName


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name of this kind that is not among the known ones."""
    known = list(known)
    near = difflib.get_close_matches(name.lower(), known, n=3) or [one for one in known if name.lower() in one][:3]
    hint = f"did you mean {_listed(near)}?" if near else f"known: {', '.join(known)}"
    return UnknownName(f'no {kind} "{name}"; {hint}')


def _listed(names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
