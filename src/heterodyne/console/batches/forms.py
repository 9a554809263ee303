"""What an operator sends about batches."""

from typing import Final

from msgspec import Struct

from heterodyne.domain.errors import InvalidField

ID_CHARS_MAX: Final = 200


class BatchCancellation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answer no further line of a batch."""

    batch: str  # its id

    def __post_init__(self) -> None:
        if not 0 < len(self.batch) <= ID_CHARS_MAX:
            raise InvalidField(f"batch: 1 to {ID_CHARS_MAX} characters are expected.", param="batch")

    def __str__(self) -> str:
        return self.batch
