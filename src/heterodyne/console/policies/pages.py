"""Guards, caches and cascades as the admin API shows them: what they did in a span, and in the last minute."""

from msgspec import Struct

from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.guard_hit import GuardHit


class RuleCount(Struct, frozen=True, kw_only=True):
    """One thing that a policy finds."""

    guard: str
    rule: str
    direction: str
    action: str
    found: int


class GuardRow(Struct, frozen=True, kw_only=True):
    """One policy."""

    policy: str
    guard: str
    action: str
    direction: str  # as the settings say; empty: as is usual for its guard
    is_set: bool  # whether the settings have it today
    found: int
    found_last_minute: int
    rules: tuple[RuleCount, ...]  # the most frequent first


class GuardFailures(Struct, frozen=True, kw_only=True):
    """Texts that no guard could look at."""

    direction: str
    failures: int
    failures_last_minute: int


class GuardPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/guards`."""

    since_at: float
    until_at: float
    guards: tuple[GuardRow, ...]
    failures: tuple[GuardFailures, ...]


class HitPage(Struct, frozen=True, kw_only=True):
    """`GET /admin/guards/hits`."""

    hits: tuple[GuardHit, ...]  # the newest first
    is_cut: bool  # whether there are more


class CacheFigures(Struct, frozen=True, kw_only=True):
    """Requests that an answer was looked up for."""

    hits: int = 0
    similar: int = 0  # of prompts that mean the same
    misses: int = 0
    followed: int = 0  # of all these, those that waited for the same request's answer
    saved_usd: float = 0.0
    hit_share: float | None = None  # None: nothing was looked up


class SemanticFigures(Struct, frozen=True, kw_only=True):
    """What a semantic cache decided, and how often it would have been wrong."""

    mode: str  # shadow or serve
    error_share_max: float  # of all requests that ask
    decided: int
    served: int
    would_serve: int  # in shadow, and those that were asked to see whether it would be wrong
    compared: int  # of these, with what a replica said
    wrong: int
    wrong_share: float | None  # of those compared, which are the less sure ones; None: none was
    # Since the workers began, with 95 % confidence for each of them and each tenant.
    account_requests: int
    account_wrong_max: int
    account_wrong_share_max: float | None  # None: no request has asked


class CacheRow(Struct, frozen=True, kw_only=True):
    """One policy of caching."""

    cache: str
    is_set: bool
    ttl_s: float | None  # None: it is not set any more
    figures: CacheFigures
    last_minute: CacheFigures
    semantic: SemanticFigures | None


class CachePage(Struct, frozen=True, kw_only=True):
    """`GET /admin/caches`."""

    since_at: float
    until_at: float
    caches: tuple[CacheRow, ...]
    entries: int  # kept in the memory of all workers
    size_bytes: int
    size_bytes_max: int
    prompts: int  # whose answers others may get
    is_shared: bool  # whether Redis or Valkey keeps answers for all
    refused: int  # entries of it that were cut or changed


class Dropped(Struct, frozen=True, kw_only=True):
    """Kept answers that are not given again."""

    drop: CacheDrop
    is_applied: bool  # whether every worker of this gateway works by it


class CascadeReasonCount(Struct, frozen=True, kw_only=True):
    """Why so many were answered by a model."""

    model: str  # cheap or big
    reason: str
    requests: int


class CascadeFigures(Struct, frozen=True, kw_only=True):
    """Requests that a cascade decided about."""

    requests: int = 0
    kept: int = 0  # the cheap model's answer, judged
    escalated: int = 0  # judged, and asked of the big model
    cheap_by_prompt: int = 0
    big_by_prompt: int = 0
    tried_usd: float = 0.0  # the cheap model, its samples and the verifier
    big_usd: float = 0.0
    audited_usd: float = 0.0
    instead_usd: float = 0.0  # what the big model would have cost where it was not asked, as predicted
    saved_usd: float = 0.0
    cost_share: float | None = None  # of asking the big model always; None: nothing was paid for
    answered_ms: float | None = None  # in the mean
    big_ms: float | None = None  # in the mean, had the big model been asked at once
    audited: int = 0
    audited_different: int = 0


class CascadeRow(Struct, frozen=True, kw_only=True):
    """One cascade."""

    cascade: str
    is_set: bool
    cheap: str
    big: str
    problem: str  # why its file cannot be read; empty: it can
    loss_share_max: float | None  # of the big model's quality, as it was fitted; None: not known
    confidence: float | None
    audit_share: float
    figures: CascadeFigures
    last_minute: CascadeFigures
    reasons: tuple[CascadeReasonCount, ...]
    # Of kept answers, the share that the big model would have given otherwise: what was seen, and its upper limit.
    different_share: float | None  # None: none was asked for
    different_share_max: float | None  # with 95 % confidence


class CascadePage(Struct, frozen=True, kw_only=True):
    """`GET /admin/cascades`."""

    since_at: float
    until_at: float
    cascades: tuple[CascadeRow, ...]
