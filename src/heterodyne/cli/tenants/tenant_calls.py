"""What the terminal may ask about tenants and keys, each as one call."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from heterodyne.cli.tenants.tenant_access import WHO, TenantAccess, TenantCall, query
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
from heterodyne.console.tenants.service import Named, TenantService
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


def organisations(tenant_access: TenantAccess) -> tuple[Organisation, ...]:
    """All of them."""

    def part(after: str) -> Part[Organisation]:
        asked = PageQuery(after=after, limit=PAGE_MAX)
        path = "/admin/organisations" + query(after=after, limit=PAGE_MAX)
        call = TenantCall(
            path=path, kind=OrganisationPage, on_service=partial(TenantService.organisations, query=asked)
        )
        page = tenant_access.send(call)
        return page.organisations, page.next_after

    return _whole(part)


def organisation(tenant_access: TenantAccess, id: str) -> Organisation:
    path = f"/admin/organisations/{quote(id, safe='')}"
    return tenant_access.send(
        TenantCall(path=path, kind=Organisation, on_service=lambda service: service.organisation(id))
    )


def create_organisation(tenant_access: TenantAccess, draft: OrganisationDraft) -> OrganisationChanged:
    call = TenantCall(
        path="/admin/organisations",
        kind=OrganisationChanged,
        body=draft,
        on_service=lambda service: service.create_organisation(draft, WHO),
    )
    return tenant_access.send(call)


def update_organisation(tenant_access: TenantAccess, edit: OrganisationEdit) -> OrganisationChanged:
    call = TenantCall(
        path="/admin/organisations/update",
        kind=OrganisationChanged,
        body=edit,
        on_service=lambda service: service.update_organisation(edit, WHO),
    )
    return tenant_access.send(call)


def projects(tenant_access: TenantAccess, organisation: str | None = None) -> tuple[Project, ...]:
    """All of them."""

    def part(after: str) -> Part[Project]:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=organisation)
        path = "/admin/projects" + query(after=after, limit=PAGE_MAX, organisation=organisation)
        page = tenant_access.send(
            TenantCall(path=path, kind=ProjectPage, on_service=partial(TenantService.projects, query=asked))
        )
        return page.projects, page.next_after

    return _whole(part)


def project(tenant_access: TenantAccess, id: str) -> Project:
    owner, _, name = id.partition("/")
    path = f"/admin/projects/{quote(owner, safe='')}/{quote(name, safe='')}"
    return tenant_access.send(TenantCall(path=path, kind=Project, on_service=lambda service: service.project(id)))


def create_project(tenant_access: TenantAccess, draft: ProjectDraft) -> ProjectChanged:
    call = TenantCall(
        path="/admin/projects",
        kind=ProjectChanged,
        body=draft,
        on_service=lambda service: service.create_project(draft, WHO),
    )
    return tenant_access.send(call)


def update_project(tenant_access: TenantAccess, edit: ProjectEdit) -> ProjectChanged:
    call = TenantCall(
        path="/admin/projects/update",
        kind=ProjectChanged,
        body=edit,
        on_service=lambda service: service.update_project(edit, WHO),
    )
    return tenant_access.send(call)


def keys(tenant_access: TenantAccess, project: str | None, *, with_spent: bool) -> tuple[KeyView, ...]:
    """All of them."""
    spent = "true" if with_spent else None

    def part(after: str) -> Part[KeyView]:
        asked = PageQuery(after=after, limit=PAGE_MAX, of=project, with_spent=with_spent)
        path = "/admin/keys" + query(after=after, limit=PAGE_MAX, project=project, with_spent=spent)
        page = tenant_access.send(
            TenantCall(path=path, kind=KeyPage, on_service=partial(TenantService.keys, query=asked))
        )
        return page.keys, page.next_after

    return _whole(part)


def key(tenant_access: TenantAccess, id: str) -> KeyView:
    path = f"/admin/keys/{quote(id, safe='')}"
    return tenant_access.send(TenantCall(path=path, kind=KeyView, on_service=lambda service: service.key(id)))


def create_key(tenant_access: TenantAccess, draft: KeyDraft) -> KeyIssued:
    call = TenantCall(
        path="/admin/keys", kind=KeyIssued, body=draft, on_service=lambda service: service.create_key(draft, WHO)
    )
    return tenant_access.send(call)


def update_key(tenant_access: TenantAccess, edit: KeyEdit) -> KeyChanged:
    call = TenantCall(
        path="/admin/keys/update", kind=KeyChanged, body=edit, on_service=lambda service: service.update_key(edit, WHO)
    )
    return tenant_access.send(call)


def rotate_key(tenant_access: TenantAccess, rotation: Rotation) -> KeyIssued:
    call = TenantCall(
        path="/admin/keys/rotate",
        kind=KeyIssued,
        body=rotation,
        on_service=lambda service: service.rotate_key(rotation, WHO),
    )
    return tenant_access.send(call)


def revoke_key(tenant_access: TenantAccess, id: str) -> KeyChanged:
    named = Named(id=id)
    call = TenantCall(
        path="/admin/keys/revoke",
        kind=KeyChanged,
        body=named,
        on_service=lambda service: service.revoke_key(named, WHO),
    )
    return tenant_access.send(call)


def _whole(part: Callable[[str], Part[T]]) -> tuple[T, ...]:
    """A list that is told part by part."""
    found, after = part("")
    while after is not None:
        more, after = part(after)
        found += more
    return found
