"""Pure: which key a client's certificate stands for, by the names in it."""

from collections.abc import Mapping, Sequence
from typing import Final, final

ANYTHING: Final = "*"  # at the end of a name


@final
class CertificateRules:
    """Of a door that asks for certificates. What was checked of one, its chain and dates, is not their affair."""

    __slots__ = ("_beginnings", "_names", "is_required")

    def __init__(self, keys: Mapping[str, str], *, is_required: bool) -> None:
        """Ids of keys by names, whole or as they begin; of those that fit, the longest counts."""
        self.is_required = is_required
        self._names = {name: key for name, key in keys.items() if not name.endswith(ANYTHING)}
        beginnings = [(name.removesuffix(ANYTHING), key) for name, key in keys.items() if name.endswith(ANYTHING)]
        self._beginnings = sorted(beginnings, key=lambda pair: len(pair[0]), reverse=True)

    def key_of(self, names: Sequence[str]) -> str | None:
        """The id of the key; None: these names stand for none."""
        for name in names:
            if name in self._names:
                return self._names[name]
        fitting = (key for begin, key in self._beginnings if any(name.startswith(begin) for name in names))
        return next(fitting, None)
