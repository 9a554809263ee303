"""The desk for tenants and keys: a change is answered when it is stored and the workers have been told of it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from heterodyne.console.tenant_pages import (
    KeyChanged,
    KeyIssued,
    KeyPage,
    OrganisationChanged,
    OrganisationPage,
    ProjectChanged,
    ProjectPage,
)
from heterodyne.console.tenant_query import PageQuery
from heterodyne.domain.tenant import Organisation, Project
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
from heterodyne.ports.tenants import TenantStore

Publish = Callable[[TenantChange], Awaitable[bool]]


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a change is about, where nothing else need be said."""

    id: str

    def __str__(self) -> str:
        return self.id


class TenantDesk:
    """Does what operators ask of a store.

    `publish` gets each change that was stored, takes it to the audit log and to every worker, and says whether all
    of them work by it within its own deadline. It does not raise for a late worker: the change is made, and a secret
    that was not answered would be lost.
    """

    def __init__(self, store: TenantStore, publish: Publish) -> None:
        self._store = store
        self._publish = publish

    async def organisations(self, query: PageQuery) -> OrganisationPage:
        rows = await self._store.organisations(after=query.after, limit=query.limit)
        return OrganisationPage(organisations=rows, next_after=query.next_after(rows))

    async def organisation(self, id: str) -> Organisation:
        return await self._store.organisation(id)

    async def create_organisation(self, draft: OrganisationDraft, who: str) -> OrganisationChanged:
        return await self._organisation_changed(await self._store.create_organisation(draft, who=who))

    async def update_organisation(self, edit: OrganisationEdit, who: str) -> OrganisationChanged:
        return await self._organisation_changed(await self._store.update_organisation(edit, who=who))

    async def disable_organisation(self, named: Named, who: str) -> OrganisationChanged:
        return await self.update_organisation(OrganisationEdit(id=named.id, is_disabled=True), who)

    async def enable_organisation(self, named: Named, who: str) -> OrganisationChanged:
        return await self.update_organisation(OrganisationEdit(id=named.id, is_disabled=False), who)

    async def projects(self, query: PageQuery) -> ProjectPage:
        rows = await self._store.projects(organisation=query.of, after=query.after, limit=query.limit)
        return ProjectPage(projects=rows, next_after=query.next_after(rows))

    async def project(self, id: str) -> Project:
        return await self._store.project(id)

    async def create_project(self, draft: ProjectDraft, who: str) -> ProjectChanged:
        return await self._project_changed(await self._store.create_project(draft, who=who))

    async def update_project(self, edit: ProjectEdit, who: str) -> ProjectChanged:
        return await self._project_changed(await self._store.update_project(edit, who=who))

    async def disable_project(self, named: Named, who: str) -> ProjectChanged:
        return await self.update_project(ProjectEdit(id=named.id, is_disabled=True), who)

    async def enable_project(self, named: Named, who: str) -> ProjectChanged:
        return await self.update_project(ProjectEdit(id=named.id, is_disabled=False), who)

    async def keys(self, query: PageQuery) -> KeyPage:
        rows = await self._store.keys(
            project=query.of, with_spent=query.with_spent, after=query.after, limit=query.limit
        )
        return KeyPage(keys=rows, next_after=query.next_after(rows))

    async def key(self, id: str) -> KeyView:
        return await self._store.key(id)

    async def create_key(self, draft: KeyDraft, who: str) -> KeyIssued:
        return await self._key_issued(await self._store.create_key(draft, who=who))

    async def update_key(self, edit: KeyEdit, who: str) -> KeyChanged:
        return await self._key_changed(await self._store.update_key(edit, who=who))

    async def rotate_key(self, rotation: Rotation, who: str) -> KeyIssued:
        return await self._key_issued(await self._store.rotate_key(rotation, who=who))

    async def revoke_key(self, named: Named, who: str) -> KeyChanged:
        return await self._key_changed(await self._store.revoke_key(named.id, who=who))

    async def _organisation_changed(self, change: TenantChange) -> OrganisationChanged:
        assert isinstance(change.after, Organisation)
        is_applied = await self._publish(change)
        return OrganisationChanged(version=change.version, is_applied=is_applied, organisation=change.after)

    async def _project_changed(self, change: TenantChange) -> ProjectChanged:
        assert isinstance(change.after, Project)
        is_applied = await self._publish(change)
        return ProjectChanged(version=change.version, is_applied=is_applied, project=change.after)

    async def _key_changed(self, change: TenantChange) -> KeyChanged:
        assert isinstance(change.after, KeyView)
        is_applied = await self._publish(change)
        return KeyChanged(version=change.version, is_applied=is_applied, key=change.after)

    async def _key_issued(self, issued: IssuedKey) -> KeyIssued:
        change = issued.change
        is_applied = await self._publish(change)
        replaced = change.after if change.successor is not None and isinstance(change.after, KeyView) else None
        return KeyIssued(
            version=change.version,
            is_applied=is_applied,
            key=issued.key,
            secret=issued.secret,
            replaces=replaced,
        )
