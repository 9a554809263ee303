"""What the terminal may ask about tenants and keys, each as one call."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar
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

T = TypeVar("T")
Part = tuple[tuple[T, ...], str | None]  # some of a list, and what the next part comes after; None: that was all


def organisations(door: Door) -> tuple[Organisation, ...]:
    """All of them."""

    def part(after: str) -> Part[Organisation]:
        asked = PageQuery(after=after, limit=PAGE_MAX)
        path = "/admin/organisations" + query(after=after, limit=PAGE_MAX)
        call = Call(path=path, kind=OrganisationPage, at_desk=partial(TenantDesk.organisations, query=asked))
        page = door.ask(call)
        return page.organisations, page.next_after

    return _whole(part)


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
    """All of them."""

    def part(after: str) -> Part[Project]:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=organisation)
        path = "/admin/projects" + query(after=after, limit=PAGE_MAX, organisation=organisation)
        page = door.ask(Call(path=path, kind=ProjectPage, at_desk=partial(TenantDesk.projects, query=asked)))
        return page.projects, page.next_after

    return _whole(part)


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
    """All of them."""
    spent = "true" if with_spent else None

    def part(after: str) -> Part[KeyView]:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=project, with_spent=with_spent)
        path = "/admin/keys" + query(after=after, limit=PAGE_MAX, project=project, with_spent=spent)
        page = door.ask(Call(path=path, kind=KeyPage, at_desk=partial(TenantDesk.keys, query=asked)))
        return page.keys, page.next_after

    return _whole(part)


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


def _whole(part: Callable[[str], Part[T]]) -> tuple[T, ...]:
    """A list that is told part by part."""
    found, after = part("")
    while after is not None:
        more, after = part(after)
        found += more
    return found
