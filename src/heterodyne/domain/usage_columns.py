"""Records of requests field by field: an array for each, in the order of the records.

They are many, and to make an object of each takes longer than to add all of them up.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from heterodyne.domain.usage import UsageOpening, UsageRecord

FIELDS: Final = UsageRecord.__struct_fields__
ASKER: Final = ("organisation", "project", "key", "model", "pool", "urgency", "tier", "hardware")

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Row = tuple[Any, ...]
# What requests have in common, and a row for each: id, time, which of the former, the ending's values.
Part = tuple[Sequence[Row], Sequence[Row]]

_COMMON = UsageOpening.__struct_fields__[2:]
_COMMON_PLACES = {name: place for place, name in enumerate(_COMMON)}
_ROW_PLACES = {name: place for place, name in enumerate(("id", "at", "", *FIELDS[2 + len(_COMMON) :]))}
_WHICH = 2  # the place in a row that says what it has in common with others
_asker_of: Callable[[Row], tuple[str, ...]] = itemgetter(*(_COMMON_PLACES[name] for name in ASKER))


class UsageColumns:
    """One record at least."""

    __slots__ = ("_floats", "_integers", "_truths", "_values", "askers", "count", "who")

    def __init__(
        self, count: int, values: Callable[[str], Sequence[Any]], askers: Sequence[tuple[str, ...]], who: Integers
    ) -> None:
        """`values` has a field of every record, by its name."""
        self.count = count
        self.askers = askers  # the fields of ASKER
        self.who = who  # of every record, which of them
        self._values = values
        self._floats: dict[str, Floats] = {}
        self._integers: dict[str, Integers] = {}
        self._truths: dict[str, Truths] = {}

    @classmethod
    def of_parts(cls, parts: Sequence[Part]) -> "UsageColumns":
        commons = list(chain.from_iterable(commons for commons, _ in parts))
        columns = list(zip(*chain.from_iterable(rows for _, rows in parts), strict=True))
        which: Integers = np.fromiter(columns[_WHICH], np.int64, len(columns[_WHICH]))
        sizes = [len(rows) for _, rows in parts]
        which += np.repeat(np.cumsum([0, *(len(common) for common, _ in parts[:-1])]), sizes)
        places = which.tolist()

        def values(name: str) -> Sequence[Any]:
            place = _COMMON_PLACES.get(name)
            if place is None:
                return columns[_ROW_PLACES[name]]
            own = [common[place] for common in commons]
            return [own[one] for one in places]

        known: dict[tuple[str, ...], int] = {}
        numbers = [known.setdefault(asker, len(known)) for asker in map(_asker_of, commons)]
        return cls(len(places), values, list(known), np.array(numbers, np.int64)[which])

    @classmethod
    def of_records(cls, records: Sequence[UsageRecord]) -> "UsageColumns":
        known: dict[tuple[str, ...], int] = {}
        who = [known.setdefault(asker, len(known)) for asker in map(attrgetter(*ASKER), records)]
        return cls(
            len(records),
            lambda name: list(map(attrgetter(name), records)),
            list(known),
            np.fromiter(who, np.int64, len(records)),
        )

    def values(self, name: str) -> Sequence[Any]:
        """As they are in the records."""
        return self._values(name)

    def floats(self, name: str) -> Floats:
        """Absent values are no numbers."""
        found = self._floats.get(name)
        if found is None:
            found = self._floats[name] = self._make_floats(name)
        return found

    def integers(self, name: str) -> Integers:
        found = self._integers.get(name)
        if found is None:
            values = self._values(name)
            found = np.fromiter(values, np.int64, self.count) if any(values) else np.zeros(self.count, np.int64)
            self._integers[name] = found
        return found

    def truths(self, name: str) -> Truths:
        """Whether it is neither zero nor empty."""
        found = self._truths.get(name)
        if found is None:
            values = self._values(name)
            found = np.fromiter(map(bool, values), bool, self.count) if any(values) else np.zeros(self.count, bool)
            self._truths[name] = found
        return found

    def equal(self, name: str, value: str) -> Truths:
        """Whether it is this."""
        if not self.truths(name).any():
            return self.truths(name)
        return np.fromiter(map(value.__eq__, self._values(name)), bool, self.count)

    def _make_floats(self, name: str) -> Floats:
        values = self._values(name)
        if None not in values:
            return np.fromiter(values, np.float64, self.count)
        if values.count(None) == self.count:
            return np.full(self.count, np.nan)
        return np.array(values, np.float64)
