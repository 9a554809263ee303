"""Tenants as they stand now: what they may use, what they have used, and what was refused."""

from msgspec import Struct

from heterodyne.domain.urgency import Tier


class LimitUse(Struct, frozen=True, kw_only=True):
    """One limit of an organisation or project in the window that runs."""

    level: str  # organisation:acme, project:acme/search
    limit_name: str  # tokens_per_minute
    limit: float  # dollars, where it is about dollars
    used: float
    resets_at: float | None  # seconds since the epoch; None: a limit of what runs now


class TenantRow(Struct, frozen=True, kw_only=True):
    """One project."""

    project: str
    organisation: str
    tier: Tier
    weight: float
    is_disabled: bool
    limits: tuple[LimitUse, ...]  # the most used first
    requests: int  # today, UTC, as the following
    errors: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    usd: float
    refused: dict[str, int]  # in the last hour, by reason
    queued: int  # waiting for their turn now


class TenantsNow(Struct, frozen=True, kw_only=True):
    """`GET /admin/tenants`."""

    day: str
    tenants: tuple[TenantRow, ...]  # with the most dollars today first
    projects: int  # how many there are
    is_cut: bool  # some are left out
