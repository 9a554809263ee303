"""Where finished requests are written down."""

from collections.abc import Sequence
from typing import Protocol

from heterodyne.domain.record import RequestRecord


class RecordSink(Protocol):
    """Must return at once; writing happens off the request's path."""

    @property
    def is_off(self) -> bool:
        """Whether nothing is written: records need not be made for it."""
        ...

    def write(self, records: Sequence[RequestRecord]) -> None:
        """Several at a time, as they end."""
        ...
