"""What the terminal may ask about tenants and keys, each as one call."""

from functools import partial
from urllib.parse import quote

from heterodyne.cli.tenant_door import WHO, Call, Door, query
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
from heterodyne.console.tenants import Named, TenantDesk
from heterodyne.domain.tenant import Organisation, Project
from heterodyne.ports.tenant_changes import (
    KeyDraft,
    KeyEdit,
    KeyView,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
)
from heterodyne.ports.tenants import PAGE_MAX


def organisations(door: Door) -> tuple[Organisation, ...]:
    """All of them, part by part."""
    found: tuple[Organisation, ...] = ()
    after: str | None = ""
    while after is not None:
        asked = PageQuery(after=after, limit=PAGE_MAX)
        path = "/admin/organisations" + query(after=after, limit=PAGE_MAX)
        call = Call(path=path, kind=OrganisationPage, at_desk=partial(TenantDesk.organisations, query=asked))
        page = door.ask(call)
        found, after = found + page.organisations, page.next_after
    return found


def organisation(door: Door, id: str) -> Organisation:
    path = f"/admin/organisations/{quote(id, safe='')}"
    return door.ask(Call(path=path, kind=Organisation, at_desk=lambda desk: desk.organisation(id)))


def create_organisation(door: Door, draft: OrganisationDraft) -> OrganisationChanged:
    call = Call(
        path="/admin/organisations",
        kind=OrganisationChanged,
        body=draft,
        at_desk=lambda desk: desk.create_organisation(draft, WHO),
    )
    return door.ask(call)


def update_organisation(door: Door, edit: OrganisationEdit) -> OrganisationChanged:
    call = Call(
        path="/admin/organisations/update",
        kind=OrganisationChanged,
        body=edit,
        at_desk=lambda desk: desk.update_organisation(edit, WHO),
    )
    return door.ask(call)


def projects(door: Door, organisation: str | None = None) -> tuple[Project, ...]:
    """All of them, part by part."""
    found: tuple[Project, ...] = ()
    after: str | None = ""
    while after is not None:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=organisation)
        path = "/admin/projects" + query(after=after, limit=PAGE_MAX, organisation=organisation)
        page = door.ask(Call(path=path, kind=ProjectPage, at_desk=partial(TenantDesk.projects, query=asked)))
        found, after = found + page.projects, page.next_after
    return found


def project(door: Door, id: str) -> Project:
    owner, _, name = id.partition("/")
    path = f"/admin/projects/{quote(owner, safe='')}/{quote(name, safe='')}"
    return door.ask(Call(path=path, kind=Project, at_desk=lambda desk: desk.project(id)))


def create_project(door: Door, draft: ProjectDraft) -> ProjectChanged:
    call = Call(
        path="/admin/projects",
        kind=ProjectChanged,
        body=draft,
        at_desk=lambda desk: desk.create_project(draft, WHO),
    )
    return door.ask(call)


def update_project(door: Door, edit: ProjectEdit) -> ProjectChanged:
    call = Call(
        path="/admin/projects/update",
        kind=ProjectChanged,
        body=edit,
        at_desk=lambda desk: desk.update_project(edit, WHO),
    )
    return door.ask(call)


def keys(door: Door, project: str | None, *, with_spent: bool) -> tuple[KeyView, ...]:
    """All of them, part by part."""
    found: tuple[KeyView, ...] = ()
    after: str | None = ""
    while after is not None:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=project, with_spent=with_spent)
        spent = "true" if with_spent else None
        path = "/admin/keys" + query(after=after, limit=PAGE_MAX, project=project, with_spent=spent)
        page = door.ask(Call(path=path, kind=KeyPage, at_desk=partial(TenantDesk.keys, query=asked)))
        found, after = found + page.keys, page.next_after
    return found


def key(door: Door, id: str) -> KeyView:
    path = f"/admin/keys/{quote(id, safe='')}"
    return door.ask(Call(path=path, kind=KeyView, at_desk=lambda desk: desk.key(id)))


def create_key(door: Door, draft: KeyDraft) -> KeyIssued:
    call = Call(path="/admin/keys", kind=KeyIssued, body=draft, at_desk=lambda desk: desk.create_key(draft, WHO))
    return door.ask(call)


def update_key(door: Door, edit: KeyEdit) -> KeyChanged:
    call = Call(path="/admin/keys/update", kind=KeyChanged, body=edit, at_desk=lambda desk: desk.update_key(edit, WHO))
    return door.ask(call)


def rotate_key(door: Door, rotation: Rotation) -> KeyIssued:
    call = Call(
        path="/admin/keys/rotate",
        kind=KeyIssued,
        body=rotation,
        at_desk=lambda desk: desk.rotate_key(rotation, WHO),
    )
    return door.ask(call)


def revoke_key(door: Door, id: str) -> KeyChanged:
    named = Named(id=id)
    call = Call(
        path="/admin/keys/revoke", kind=KeyChanged, body=named, at_desk=lambda desk: desk.revoke_key(named, WHO)
    )
    return door.ask(call)
