"""What guards, caches and cascades did, in either database."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.guard_hit import GuardHit, GuardHitQuery
from heterodyne.domain.policy_count import PolicyCount
from heterodyne.stores.sql.policies import scripts
from heterodyne.stores.sql.script import Script

T = TypeVar("T")


class SqlPolicies(ABC):
    """What `ports.policy_store.PolicyStore` asks, but for how a script is run."""

    source = secrets.token_hex(8)  # whose minutes are written; no other process writes the same rows

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Of one moment."""

    @abstractmethod
    async def _write(self, script: Script[T]) -> T:
        """In one transaction, which a script that raises leaves undone."""

    async def add_counts(self, minute: int, counts: Sequence[PolicyCount]) -> None:
        await self._write(scripts.add_counts(self.source, minute, counts))

    async def counts(self, since_at: float, until_at: float) -> tuple[PolicyCount, ...]:
        return await self._read(scripts.read_counts(since_at, until_at))

    async def add_hits(self, hits: Sequence[GuardHit]) -> None:
        await self._write(scripts.add_hits(hits))

    async def hits(self, query: GuardHitQuery) -> tuple[GuardHit, ...]:
        return await self._read(scripts.read_hits(query))

    async def add_drop(self, drop: CacheDrop, until_at: float) -> None:
        await self._write(scripts.add_drop(drop, until_at))

    async def drops(self, now: float) -> tuple[CacheDrop, ...]:
        return await self._read(scripts.read_drops(now))

    async def forget(self, before_at: float, rows_max: int, *, hits_max: int) -> int:
        return await self._write(scripts.forget(before_at, rows_max, hits_max))
