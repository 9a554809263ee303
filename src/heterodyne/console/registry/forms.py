"""What an operator sends about the registry."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

NAME_CHARS_MAX = 200


class RegistryCheck(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Read every byte of a version."""

    name: str  # MODEL@VERSION, or a model, which means its latest

    def __post_init__(self) -> None:
        check_name(self.name)

    def __str__(self) -> str:
        return self.name


class RegistryCollection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Remove bytes that no artifact refers to."""

    dry_run: bool = True  # only say what would be removed

    def __str__(self) -> str:
        return "dry run" if self.dry_run else "unreferenced bytes"


def check_name(name: str) -> None:
    """Raise for what can be no name, before it is looked for."""
    if not 0 < len(name) <= NAME_CHARS_MAX:
        raise InvalidField(f"name: 1 to {NAME_CHARS_MAX} characters are expected.", param="name")
