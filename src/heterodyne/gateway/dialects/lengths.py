"""How long an answer may be, by whatever name the body says it."""

import msgspec
from msgspec import Raw

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.lengths import AT_LEAST, AT_MOST


def longest(private: dict[str, Raw], *named: int | None) -> int | None:
    """The largest of all lengths that the body names, for nobody knows which one an engine takes; None: it names none.

    A least length alone names none: beside the limit that a scope sets, engines refuse one that is larger.
    """
    lengths = [length for length in named if length is not None]
    at_least = 0
    for path, value in private.items():
        name = path.rpartition(".")[2]
        if name in AT_MOST and bytes(value) != b"null":
            lengths.append(_count(path, value, 1))
        elif name in AT_LEAST and bytes(value) != b"null":
            at_least = max(at_least, _count(path, value, 0))
    return max(at_least, *lengths) if lengths else None


def _count(path: str, value: Raw, least: int) -> int:
    """Engines take -1 and the like for no limit at all."""
    try:
        count = msgspec.json.decode(value, type=int)
    except msgspec.ValidationError:
        count = least - 1
    if count < least:
        raise InvalidField(f"{path}: expected a whole number of at least {least}.", param=path)
    return count
