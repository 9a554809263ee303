"""Tenants as the admin API shows them; a secret is in one answer only, that to the request that made the key."""

from msgspec import Struct

from heterodyne.domain.tenant import Organisation, Project
from heterodyne.ports.tenant_changes import KeyView


class OrganisationPage(Struct, frozen=True, kw_only=True):
    """Some organisations in the order of their ids; more follow behind `next_after`, if there is one."""

    organisations: tuple[Organisation, ...]
    next_after: str | None = None


class ProjectPage(Struct, frozen=True, kw_only=True):
    """Some projects."""

    projects: tuple[Project, ...]
    next_after: str | None = None


class KeyPage(Struct, frozen=True, kw_only=True):
    """Some keys."""

    keys: tuple[KeyView, ...]
    next_after: str | None = None


class OrganisationChanged(Struct, frozen=True, kw_only=True):
    """An organisation as it is now."""

    version: int  # of the tenants
    is_applied: bool  # whether every worker works by it; False: some worker is late
    organisation: Organisation


class ProjectChanged(Struct, frozen=True, kw_only=True):
    """A project as it is now."""

    version: int
    is_applied: bool
    project: Project


class KeyChanged(Struct, frozen=True, kw_only=True):
    """A key as it is now."""

    version: int
    is_applied: bool
    key: KeyView


class KeyIssued(Struct, frozen=True, kw_only=True):
    """A new key. The secret cannot be had again."""

    version: int
    is_applied: bool
    key: KeyView
    secret: str
    replaces: KeyView | None = None  # the key that was rotated, as it is now
    note: str = ""  # what else follows from it

    def __repr__(self) -> str:
        return f"KeyIssued(key={self.key.id!r})"
