"""What the books ask of a database."""

from collections.abc import Sequence
from typing import Protocol

from heterodyne.domain.usage import (
    IdleRow,
    RequestPage,
    RequestQuery,
    Uptime,
    UsageQuery,
    UsageRecord,
    UsageRow,
)


class BookStore(Protocol):
    """Raises StoreUnavailable while it cannot be asked; then nothing of the call was done, or all of it."""

    async def add(self, records: Sequence[UsageRecord]) -> int:
        """Keep records and add them to their days, both or neither; how many had an id that was not there before."""
        ...

    async def usage(self, query: UsageQuery) -> tuple[UsageRow, ...]:
        """Whole days added up, sorted by group; they outlive the records."""
        ...

    async def requests(self, query: RequestQuery) -> RequestPage:
        """Single records, the newest first."""
        ...

    async def forget(self, before_at: float, records_max: int) -> int:
        """Delete some of the records before a time and leave their days; how many."""
        ...

    async def add_uptime(self, uptimes: Sequence[Uptime]) -> None:
        """What one supervisor has seen of a day, in place of what it said before."""
        ...

    async def idle(self, since: str | None, until: str | None) -> tuple[IdleRow, ...]:
        """Replicas paid by the hour: what they cost and what was used, by day, pool and hardware."""
        ...
