"""Usage, single requests and idle capacity as the admin API shows them."""

from typing import Any

from msgspec import Struct

from heterodyne.books.cost import PoolCost
from heterodyne.domain.usage import IdleRow, UsageRow


class UsagePage(Struct, frozen=True, kw_only=True):
    """Usage by group."""

    rows: tuple[UsageRow, ...]


class RequestRows(Struct, frozen=True, kw_only=True):
    """Single requests by the names of their columns, the newest first."""

    requests: tuple[dict[str, Any], ...]
    next: str | None  # for `after`; None: there are no more


class IdlePool(Struct, frozen=True, kw_only=True):
    """One pool on one day."""

    hours: IdleRow
    cost: PoolCost


class IdlePage(Struct, frozen=True, kw_only=True):
    """What was paid for, and what of it was used."""

    rows: tuple[IdlePool, ...]
