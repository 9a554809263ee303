"""What the books ask of a database."""

from collections.abc import Sequence
from typing import Protocol

from heterodyne.domain.history import History, HistoryQuery
from heterodyne.domain.refusals import RefusalRow
from heterodyne.domain.spool_place import SpoolPlace
from heterodyne.domain.usage import (
    IdleRow,
    RequestPage,
    RequestQuery,
    Uptime,
    UsageQuery,
    UsageRecord,
    UsageRow,
)
from heterodyne.domain.usage_tally import UsageTally


class BookStore(Protocol):
    """Raises StoreUnavailable while it cannot be asked; then nothing of the call was done, or all of it."""

    async def add(self, records: Sequence[UsageRecord], place: SpoolPlace | None = None) -> UsageTally:
        """Keep records and add them to their days and minutes, all or nothing.

        The answer is those that were not there before, each once; the others change nothing. What was read before is
        known by its place in the spool; records without one, and those that may repeat others, by their ids.
        """
        ...

    async def usage(self, query: UsageQuery) -> tuple[UsageRow, ...]:
        """Whole days added up, sorted by group; they outlive the records."""
        ...

    async def requests(self, query: RequestQuery) -> RequestPage:
        """Single records, the newest first."""
        ...

    async def refusals(self, since_at: float, until_at: float) -> tuple[RefusalRow, ...]:
        """Requests of a span for which no replica was asked, by project and reason, the most frequent first."""
        ...

    async def forget(self, before_at: float, records_max: int) -> int:
        """Delete some of the records before a time and leave their days; how many."""
        ...

    async def forget_segments(self, before_at: float) -> None:
        """How far segments were read whose last record is older."""
        ...

    async def history(self, query: HistoryQuery) -> History:
        """Minutes added up into steps that begin at multiples of their length; series are sorted by group."""
        ...

    async def forget_minutes(self, before_at: float, rows_max: int, keep_max: int) -> int:
        """Delete some of the oldest minutes, those before a time and those beyond so many rows; how many rows."""
        ...

    async def add_uptime(self, uptimes: Sequence[Uptime]) -> None:
        """What one supervisor has seen of a day, in place of what it stored before."""
        ...

    async def idle(self, since: str | None, until: str | None) -> tuple[IdleRow, ...]:
        """Replicas paid by the hour: what they cost and what was used, by day, pool and hardware."""
        ...
