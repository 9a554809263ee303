"""Pure: what a name stands for, where some are written whole and some as they begin."""

from collections.abc import Mapping, Sequence
from typing import Final, final

ANYTHING: Final = "*"  # at the end of a name


@final
class NamePatterns:
    """Of those that fit, a whole name counts before one that is cut short, a longer before a shorter."""

    __slots__ = ("_beginnings", "_names")

    def __init__(self, meant: Mapping[str, str]) -> None:
        self._names = {name: one for name, one in meant.items() if not name.endswith(ANYTHING)}
        beginnings = [(name.removesuffix(ANYTHING), one) for name, one in meant.items() if name.endswith(ANYTHING)]
        self._beginnings = sorted(beginnings, key=lambda pair: len(pair[0]), reverse=True)

    def try_find(self, names: Sequence[str]) -> str | None:
        """What these names stand for; None: nothing."""
        for name in names:
            if name in self._names:
                return self._names[name]
        fitting = (one for begin, one in self._beginnings if any(name.startswith(begin) for name in names))
        return next(fitting, None)
