"""Changes of tenants that a store takes, and the value that describes a change that was made."""

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from heterodyne.domain.errors import CallerError
from heterodyne.domain.tenant import KeyId, Limits, Organisation, Project, ProjectId, Scopes
from heterodyne.domain.urgency import Tier

OVERLAP_DEFAULT_S = 86400.0
OVERLAP_MAX_S = 90 * 86400.0

Seconds = Annotated[float, Meta(ge=0, le=OVERLAP_MAX_S)]
Moment = Annotated[float, Meta(ge=0, le=253402300799)]  # seconds since the epoch, until the year 9999
Weight = Annotated[float, Meta(gt=0, le=1e6)]


class AlreadyThere(CallerError):
    """The name is taken, or as many exist as may."""

    code = "already_exists"
    status = 409


class KeySpent(CallerError):
    """The key was revoked, has expired, or has a successor already."""

    code = "key_spent"
    status = 409


class OrganisationDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An organisation to be."""

    id: str
    limits: Limits = Limits()

    def __str__(self) -> str:
        return self.id


class OrganisationEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes different of one; what is absent stays."""

    id: str
    limits: Limits | UnsetType = UNSET  # all of them at once
    is_disabled: bool | UnsetType = UNSET

    def __str__(self) -> str:
        return self.id


class ProjectDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A project to be, of an organisation that there is."""

    id: str  # organisation/project
    tier: Tier = Tier.SILVER
    weight: Weight = 1.0
    limits: Limits = Limits()
    scopes: Scopes = Scopes()
    keeps_content: bool = False

    def __str__(self) -> str:
        return self.id


class ProjectEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes different of one; what is absent stays."""

    id: str
    tier: Tier | UnsetType = UNSET
    weight: Weight | UnsetType = UNSET
    limits: Limits | UnsetType = UNSET  # all of them at once
    scopes: Scopes | UnsetType = UNSET  # all of them at once
    is_disabled: bool | UnsetType = UNSET
    keeps_content: bool | UnsetType = UNSET

    def __str__(self) -> str:
        return self.id


class KeyDraft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A key to be, of a project that there is."""

    project: str
    name: str = ""
    tier: Tier | None = None  # None: the project's
    limits: Limits = Limits()
    scopes: Scopes = Scopes()
    expires_at: Moment | None = None  # None: never

    def __str__(self) -> str:
        return f"for {self.project}"


class KeyEdit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What becomes different of one; what is absent stays. The secret stays in any case."""

    id: str
    name: str | UnsetType = UNSET
    tier: Tier | UnsetType | None = UNSET
    limits: Limits | UnsetType = UNSET  # all of them at once
    scopes: Scopes | UnsetType = UNSET  # all of them at once
    expires_at: Moment | UnsetType | None = UNSET

    def __str__(self) -> str:
        return self.id


class Rotation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A successor for a key, with the same rights."""

    id: str
    overlap_s: Seconds = OVERLAP_DEFAULT_S  # how long the old one still works; 0: no longer
    expires_at: Moment | UnsetType | None = UNSET  # of the successor; absent: as the old one's was

    def __str__(self) -> str:
        return f"{self.id}, overlap {self.overlap_s:g} s"


class KeyView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key as it may be shown: nothing of its secret, the digest included."""

    id: KeyId
    project: ProjectId
    name: str = ""
    tier: Tier | None = None
    limits: Limits = Limits()
    scopes: Scopes = Scopes()
    created_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None
    replaced_by: KeyId | None = None
    unread: tuple[str, ...] = ()  # what a newer gateway has stored of it: kept, and not heeded by this version
    problem: str = ""  # why it is refused: what is stored of it cannot be read; empty: it can


class TenantChangeKind(StrEnum):
    """What an operator did."""

    ORGANISATION_CREATED = "organisation_created"
    ORGANISATION_UPDATED = "organisation_updated"
    ORGANISATION_DISABLED = "organisation_disabled"
    ORGANISATION_ENABLED = "organisation_enabled"
    PROJECT_CREATED = "project_created"
    PROJECT_UPDATED = "project_updated"
    PROJECT_DISABLED = "project_disabled"
    PROJECT_ENABLED = "project_enabled"
    KEY_CREATED = "key_created"
    KEY_UPDATED = "key_updated"
    KEY_ROTATED = "key_rotated"
    KEY_REVOKED = "key_revoked"


class TenantChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change that is stored; fit for the audit log, because no secret is in it."""

    version: int  # of the tenants, after it
    at: float  # seconds since the epoch
    who: str
    kind: TenantChangeKind
    subject: str  # its id
    before: Organisation | Project | KeyView | None = None  # None: it is new
    after: Organisation | Project | KeyView
    successor: KeyView | None = None  # of a key that was rotated


class IssuedKey(Struct, frozen=True, kw_only=True):
    """A new key and, this once, its secret."""

    change: TenantChange
    key: KeyView
    secret: str

    def __repr__(self) -> str:
        return f"IssuedKey(key={self.key.id!r})"
