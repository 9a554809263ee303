"""Reads whole numbers, flags and words out of a decoded file, with an error that names the field."""

from collections.abc import Mapping

from heterodyne.domain.errors import InvalidSpec


class ConfigFields:
    """A view of one file's fields; `null` counts as absent."""

    def __init__(self, file: str, fields: Mapping[str, object]) -> None:
        self._file = file
        self._fields = fields

    def has(self, name: str) -> bool:
        """Whether the field says something."""
        return self._fields.get(name) is not None

    def first(self, *names: str) -> str | None:
        """The first of these names that is there."""
        return next((name for name in names if self.has(name)), None)

    def whole(self, name: str) -> int:
        """A whole number above zero that must be there."""
        if not self.has(name):
            raise InvalidSpec(f"{self._file}: {name} is missing")
        return self._at_least(name, 1)

    def optional_whole(self, name: str) -> int | None:
        """A whole number above zero, None when absent."""
        return self._at_least(name, 1) if self.has(name) else None

    def optional_count(self, name: str) -> int | None:
        """A whole number, zero included, None when absent."""
        return self._at_least(name, 0) if self.has(name) else None

    def flag(self, name: str) -> bool:
        """Whether the field is there and true."""
        return self._fields.get(name) is True

    def is_false(self, name: str) -> bool:
        """Whether the field is there and false."""
        return self._fields.get(name) is False

    def word(self, name: str) -> str | None:
        """A string, None when it is anything else."""
        value = self._fields.get(name)
        return value if isinstance(value, str) else None

    def words(self, name: str) -> list[str] | None:
        """A list of strings, None when it is anything else."""
        value = self._fields.get(name)
        return [str(one) for one in value] if isinstance(value, list) else None

    def wrong(self, name: str, reason: str) -> InvalidSpec:
        """The error for a field whose value makes no sense beside the others."""
        return InvalidSpec(f"{self._file}: {name}: {reason}")

    def _at_least(self, name: str, smallest: int) -> int:
        value = self._fields[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
            raise InvalidSpec(f"{self._file}: {name} is {value!r}; expected a whole number, {smallest} or more")
        return value
