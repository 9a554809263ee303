"""What an operator sends about abuse."""

from typing import Final

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

ID_CHARS_MAX: Final = 200


class AbuseLift(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hold nothing against a key any more."""

    key: str  # its id

    def __post_init__(self) -> None:
        if not 0 < len(self.key) <= ID_CHARS_MAX:
            raise InvalidField(f"key: 1 to {ID_CHARS_MAX} characters are expected.", param="key")

    def __str__(self) -> str:
        return self.key
