"""Reads and changes tenants and keys: a change is answered when it is stored and the workers have it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct, structs

from heterodyne.console.change_recorder import ChangeRecorder, Effect, Intent
from heterodyne.console.tenants.page_query import PageQuery
from heterodyne.console.tenants.pages import (
    KeyChanged,
    KeyIssued,
    KeyPage,
    OrganisationChanged,
    OrganisationPage,
    ProjectChanged,
    ProjectPage,
)
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

FIRST_KEY = (
    "This is the first key: from now on clients that bring none are refused with 401, those already there included. "
    "Revoking it does not open the gateway again."
)

T = TypeVar("T")
Act = Callable[[], Awaitable[T]]
Publish = Callable[[TenantChange], Awaitable[bool]]


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a change is about, where nothing else need be said."""

    id: str

    def __str__(self) -> str:
        return self.id


class TenantService:
    """Reads and changes the store of tenants, with every change in the audit log.

    `publish` gets each change that was stored and recorded, takes it to every worker, and returns whether all of them
    work by it within its own deadline. It does not raise for a late worker: the change is made, and a secret that was
    not answered would be lost.
    """

    def __init__(self, store: TenantStore, publish: Publish, recorder: ChangeRecorder) -> None:
        self._store = store
        self._publish = publish
        self._recorder = recorder

    async def organisations(self, query: PageQuery) -> OrganisationPage:
        rows = await self._store.organisations(after=query.after, limit=query.limit)
        return OrganisationPage(organisations=rows, next_after=query.next_after(rows))

    async def organisation(self, id: str) -> Organisation:
        return await self._store.organisation(id)

    async def create_organisation(self, draft: OrganisationDraft, who: str) -> OrganisationChanged:
        intent = Intent(who=who, what="organisations.create", subject=draft.id, wanted=draft)
        return await self._organisation(intent, lambda: self._store.create_organisation(draft, who=who))

    async def update_organisation(self, edit: OrganisationEdit, who: str) -> OrganisationChanged:
        return await self._edit_organisation("organisations.update", edit, who)

    async def disable_organisation(self, named: Named, who: str) -> OrganisationChanged:
        edit = OrganisationEdit(id=named.id, is_disabled=True)
        return await self._edit_organisation("organisations.disable", edit, who)

    async def enable_organisation(self, named: Named, who: str) -> OrganisationChanged:
        edit = OrganisationEdit(id=named.id, is_disabled=False)
        return await self._edit_organisation("organisations.enable", edit, who)

    async def projects(self, query: PageQuery) -> ProjectPage:
        rows = await self._store.projects(organisation=query.of, after=query.after, limit=query.limit)
        return ProjectPage(projects=rows, next_after=query.next_after(rows))

    async def project(self, id: str) -> Project:
        return await self._store.project(id)

    async def create_project(self, draft: ProjectDraft, who: str) -> ProjectChanged:
        intent = Intent(who=who, what="projects.create", subject=draft.id, wanted=draft)
        return await self._project(intent, lambda: self._store.create_project(draft, who=who))

    async def update_project(self, edit: ProjectEdit, who: str) -> ProjectChanged:
        return await self._edit_project("projects.update", edit, who)

    async def disable_project(self, named: Named, who: str) -> ProjectChanged:
        return await self._edit_project("projects.disable", ProjectEdit(id=named.id, is_disabled=True), who)

    async def enable_project(self, named: Named, who: str) -> ProjectChanged:
        return await self._edit_project("projects.enable", ProjectEdit(id=named.id, is_disabled=False), who)

    async def keys(self, query: PageQuery) -> KeyPage:
        rows = await self._store.keys(
            project=query.of, with_spent=query.with_spent, after=query.after, limit=query.limit
        )
        return KeyPage(keys=rows, next_after=query.next_after(rows))

    async def key(self, id: str) -> KeyView:
        return await self._store.key(id)

    async def create_key(self, draft: KeyDraft, who: str) -> KeyIssued:
        intent = Intent(who=who, what="keys.create", subject=draft.project, wanted=draft)
        earlier = await self._store.keys(project=None, with_spent=True, after="", limit=1)
        issued = await self._key_issued(intent, lambda: self._store.create_key(draft, who=who))
        return issued if earlier else structs.replace(issued, note=FIRST_KEY)

    async def update_key(self, edit: KeyEdit, who: str) -> KeyChanged:
        intent = Intent(who=who, what="keys.update", subject=edit.id, wanted=edit)
        return await self._key(intent, lambda: self._store.update_key(edit, who=who))

    async def rotate_key(self, rotation: Rotation, who: str) -> KeyIssued:
        intent = Intent(who=who, what="keys.rotate", subject=rotation.id, wanted=rotation)
        return await self._key_issued(intent, lambda: self._store.rotate_key(rotation, who=who))

    async def revoke_key(self, named: Named, who: str) -> KeyChanged:
        intent = Intent(who=who, what="keys.revoke", subject=named.id)
        return await self._key(intent, lambda: self._store.revoke_key(named.id, who=who))

    async def _edit_organisation(self, what: str, edit: OrganisationEdit, who: str) -> OrganisationChanged:
        intent = Intent(who=who, what=what, subject=edit.id, wanted=edit)
        return await self._organisation(intent, lambda: self._store.update_organisation(edit, who=who))

    async def _edit_project(self, what: str, edit: ProjectEdit, who: str) -> ProjectChanged:
        intent = Intent(who=who, what=what, subject=edit.id, wanted=edit)
        return await self._project(intent, lambda: self._store.update_project(edit, who=who))

    async def _organisation(self, intent: Intent, act: Act[TenantChange]) -> OrganisationChanged:
        change = await self._recorder.carry_out(intent, act, _effect)
        assert isinstance(change.after, Organisation)
        is_applied = await self._publish(change)
        return OrganisationChanged(version=change.version, is_applied=is_applied, organisation=change.after)

    async def _project(self, intent: Intent, act: Act[TenantChange]) -> ProjectChanged:
        change = await self._recorder.carry_out(intent, act, _effect)
        assert isinstance(change.after, Project)
        is_applied = await self._publish(change)
        return ProjectChanged(version=change.version, is_applied=is_applied, project=change.after)

    async def _key(self, intent: Intent, act: Act[TenantChange]) -> KeyChanged:
        change = await self._recorder.carry_out(intent, act, _effect)
        assert isinstance(change.after, KeyView)
        is_applied = await self._publish(change)
        return KeyChanged(version=change.version, is_applied=is_applied, key=change.after)

    async def _key_issued(self, intent: Intent, act: Act[IssuedKey]) -> KeyIssued:
        issued = await self._recorder.carry_out(intent, act, lambda done: _effect(done.change))
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


def _effect(change: TenantChange) -> Effect:
    after: object = change.after
    if change.successor is not None:
        after = {"key": change.after, "successor": change.successor}
    return Effect(subject=change.subject, before=change.before, after=after)
