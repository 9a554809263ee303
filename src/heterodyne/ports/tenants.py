"""Where organisations, projects and keys are kept."""

from collections.abc import AsyncGenerator
from typing import Protocol

from heterodyne.domain.tenant import Organisation, Project, TenantSnapshot
from heterodyne.ports.tenant_changes import (
    IssuedKey,
    KeyDraft,
    KeyEdit,
    KeyView,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
    TenantChange,
)

PAGE_MAX = 1000


class TenantStore(Protocol):
    """Each change is one transaction, and stored when it returns; `who` is the operator that asked for it.

    Unknown names raise UnknownName with the nearest ones, taken ones AlreadyThere, impossible values
    InvalidField. Lists are in the order of ids and begin behind `after`.
    """

    async def organisations(self, *, after: str = "", limit: int = PAGE_MAX) -> tuple[Organisation, ...]: ...

    async def organisation(self, id: str) -> Organisation: ...

    async def create_organisation(self, draft: OrganisationDraft, *, who: str) -> TenantChange: ...

    async def update_organisation(self, edit: OrganisationEdit, *, who: str) -> TenantChange: ...

    async def projects(
        self, *, organisation: str | None = None, after: str = "", limit: int = PAGE_MAX
    ) -> tuple[Project, ...]: ...

    async def project(self, id: str) -> Project: ...

    async def create_project(self, draft: ProjectDraft, *, who: str) -> TenantChange: ...

    async def update_project(self, edit: ProjectEdit, *, who: str) -> TenantChange: ...

    async def keys(
        self, *, project: str | None = None, with_spent: bool = False, after: str = "", limit: int = PAGE_MAX
    ) -> tuple[KeyView, ...]:
        """Those that work, or with the expired and revoked ones."""
        ...

    async def key(self, id: str) -> KeyView: ...

    async def create_key(self, draft: KeyDraft, *, who: str) -> IssuedKey: ...

    async def update_key(self, edit: KeyEdit, *, who: str) -> TenantChange: ...

    async def rotate_key(self, rotation: Rotation, *, who: str) -> IssuedKey: ...

    async def revoke_key(self, id: str, *, who: str) -> TenantChange:
        """At once; a second time changes nothing more."""
        ...

    async def version(self) -> int:
        """Grows by one with each change."""
        ...

    async def snapshot(self) -> TenantSnapshot:
        """Every key that works now, of one moment."""
        ...

    def changes(self, since: int) -> AsyncGenerator[int]:
        """The version, each time it is another than the last one, made here or elsewhere; never ends by itself."""
        ...
