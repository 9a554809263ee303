"""What a policy found in one request, as it is kept and shown: where and what, never the words."""

from msgspec import Struct

from heterodyne.domain.guard_verdict import GuardVerdict


class GuardHit(Struct, frozen=True, kw_only=True, gc=False):
    """One finding in one request or its answer."""

    id: str  # its own
    at: float  # seconds since the epoch
    request: str
    project: str
    model: str  # the one that was meant
    verdict: GuardVerdict


class GuardHitQuery(Struct, frozen=True, kw_only=True):
    """The latest of a span of time; None: all."""

    since_at: float
    until_at: float  # left out itself
    limit: int = 100
    policy: str | None = None
    rule: str | None = None
    action: str | None = None
    project: str | None = None
    request: str | None = None
