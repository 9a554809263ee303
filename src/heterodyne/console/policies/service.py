"""What knows of guards, caches and cascades."""

from typing import Protocol

from heterodyne.console.policies.pages import CachePage, CascadePage, GuardPage, HitPage
from heterodyne.domain.guard_hit import GuardHitQuery


class PolicyService(Protocol):
    """One per supervisor."""

    async def guards(self, since_at: float, until_at: float) -> GuardPage: ...

    async def hits(self, query: GuardHitQuery) -> HitPage: ...

    async def caches(self, since_at: float, until_at: float) -> CachePage: ...

    async def cascades(self, since_at: float, until_at: float) -> CascadePage: ...
