"""What every tenant uses of its limits now."""

from typing import Protocol

from msgspec import Struct

from heterodyne.console.tenants_now.pages import TenantsNow

LIMIT_DEFAULT = 100


class TenantsQuery(Struct, frozen=True, kw_only=True):
    """Which projects are meant."""

    limit: int = LIMIT_DEFAULT
    search: str = ""  # what their ids begin with


class TenantsNowService(Protocol):
    """Knows the tenants, the books and the counters of limits; one per console."""

    async def tenants_now(self, query: TenantsQuery) -> TenantsNow: ...
