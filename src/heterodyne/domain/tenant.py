"""Who asks: organisations have projects, projects have keys; each level may be limited, each key scoped."""

from typing import Annotated, NewType

from msgspec import Meta, Struct

from heterodyne.domain.operation import Operation
from heterodyne.domain.urgency import Tier, Urgency

OrganisationId = NewType("OrganisationId", str)
ProjectId = NewType("ProjectId", str)  # organisation/project
KeyId = NewType("KeyId", str)  # public: it may be shown and logged; the secret may not

# Organisations of callers that no database knows: of a keyless gateway, of keys in the settings, of the console's
# playground, whoever asks for an open page without a key, and whoever a proxy let in.
RESERVED_ORGANISATIONS = frozenset({"local", "static", "console", "stranger", "proxy"})

Name = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,62}$")]
Count = Annotated[int, Meta(ge=0)]
Usd = Annotated[float, Meta(ge=0)]


class Limits(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one level may use; None: as much as the levels above it. Windows are UTC minutes, days and months."""

    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None  # prompt and answer together
    requests_per_day: Count | None = None
    tokens_per_day: Count | None = None
    concurrent_requests: Count | None = None
    usd_per_day: Usd | None = None
    usd_per_month: Usd | None = None


class Scopes(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What may be asked; None: anything."""

    models: tuple[str, ...] | None = None
    operations: tuple[Operation, ...] | None = None
    classes: tuple[Urgency, ...] | None = None
    regions: tuple[str, ...] | None = None
    context_tokens_max: Count | None = None  # prompt and answer together
    output_tokens_max: Count | None = None


class Organisation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whoever pays."""

    id: OrganisationId
    limits: Limits = Limits()
    is_disabled: bool = False  # its keys are refused
    unread: tuple[str, ...] = ()  # what a newer gateway has stored of it: kept, and not heeded by this version
    problem: str = ""  # why its keys are refused: what is stored of it cannot be read; empty: it can


class Project(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tenant: what is queued fairly and charged apart."""

    id: ProjectId
    organisation: OrganisationId
    tier: Tier = Tier.SILVER
    weight: Annotated[float, Meta(gt=0)] = 1.0  # its share when there is not enough, beside projects of its class
    limits: Limits = Limits()
    scopes: Scopes = Scopes()
    is_disabled: bool = False
    keeps_content: bool = False  # whether the audit log holds prompts and answers, redacted, instead of their hashes
    unread: tuple[str, ...] = ()  # what a newer gateway has stored of it: kept, and not heeded by this version
    problem: str = ""  # why its keys are refused: what is stored of it cannot be read; empty: it can


class Key(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A secret's stand-in. Of the secret only the SHA-256 is kept, which nobody can turn back."""

    id: KeyId
    project: ProjectId
    secret_sha256: str  # hex
    name: str = ""
    tier: Tier | None = None  # None: the project's
    limits: Limits = Limits()
    scopes: Scopes = Scopes()
    created_at: float = 0.0  # seconds since the epoch
    expires_at: float | None = None  # None: never
    revoked_at: float | None = None  # None: it was not
    replaced_by: KeyId | None = None  # rotated: it works beside its successor until it expires
    unread: tuple[str, ...] = ()  # what a newer gateway has stored of it: kept, and not heeded by this version
    problem: str = ""  # why its keys are refused: what is stored of it cannot be read; empty: it can


class Level(Struct, frozen=True, kw_only=True):
    """One of the three that a request is counted against."""

    name: str  # organisation:acme, project:acme/search, key:k_…
    limits: Limits


class Caller(Struct, frozen=True, kw_only=True):
    """Everything the data plane needs of one key, gathered so that nothing is looked up twice."""

    key: KeyId
    project: ProjectId
    organisation: OrganisationId
    salt: bytes  # what the project's prompts are hashed with, so that no other finds them in a cache
    tier: Tier
    weight: float
    scopes: tuple[Scopes, ...]  # of the key and of its project; each must allow
    levels: tuple[Level, ...]  # those with limits
    expires_at: float | None = None
    keeps_content: bool = False
    batch_price: float = 1.0  # what batch work on replicas of ours costs it, as a share of what other work does


class TenantSnapshot(Struct, frozen=True, kw_only=True):
    """All callers by the SHA-256 of their secrets, as the data plane reads them."""

    version: int = 0
    callers: dict[str, Caller] = {}
    projects: tuple[Caller, ...] = ()  # as tokens of other issuers stand for them, without any key
    has_keys: bool = False  # whether a key was ever issued, though none may work now
    unreadable: tuple[str, ...] = ()  # the SHA-256 of keys that are refused because a row of theirs cannot be read
    problems: tuple[str, ...] = ()  # the rows that cannot be read, and why
    unread: tuple[str, ...] = ()  # what a newer gateway has stored: kept, and not heeded
