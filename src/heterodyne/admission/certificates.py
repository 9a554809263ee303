"""Pure: which key a client's certificate stands for, by the names in it."""

from collections.abc import Mapping, Sequence
from typing import final

from heterodyne.domain.name_patterns import NamePatterns


@final
class CertificateRules:
    """Of a door that asks for certificates. What was checked of one, its chain and dates, is not their affair."""

    __slots__ = ("_names", "is_required")

    def __init__(self, keys: Mapping[str, str], *, is_required: bool) -> None:
        """Ids of keys by names, whole or as they begin; of those that fit, the longest counts."""
        self.is_required = is_required
        self._names = NamePatterns(keys)

    def key_of(self, names: Sequence[str]) -> str | None:
        """The id of the key; None: these names stand for none."""
        return self._names.try_find(names)
