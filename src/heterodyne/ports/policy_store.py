"""What guards, caches and cascades ask of a database."""

from collections.abc import Sequence
from typing import Protocol

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.guard_hit import GuardHit, GuardHitQuery
from heterodyne.domain.policy_count import PolicyCount


class PolicyStore(Protocol):
    """Each call is one transaction; raises StoreUnavailable while it cannot be asked."""

    async def add_counts(self, minute: int, counts: Sequence[PolicyCount]) -> None:
        """What metrics have grown by in a minute, which begins so many seconds after the epoch."""
        ...

    async def counts(self, since_at: float, until_at: float) -> tuple[PolicyCount, ...]:
        """Added up, over the minutes that begin in a span."""
        ...

    async def add_hits(self, hits: Sequence[GuardHit]) -> None:
        """Those that are there already stay as they are."""
        ...

    async def hits(self, query: GuardHitQuery) -> tuple[GuardHit, ...]:
        """The newest first."""
        ...

    async def add_drop(self, drop: CacheDrop, until_at: float) -> None:
        """Kept answers that are not to be given again; nothing that it is about is kept beyond `until_at`."""
        ...

    async def drops(self, now: float) -> tuple[CacheDrop, ...]:
        """Those that may still matter, the oldest first."""
        ...

    async def forget(self, before_at: float, rows_max: int, *, hits_max: int) -> int:
        """Delete some of the minutes and hits before a time, and hits beyond so many; how many rows."""
        ...
