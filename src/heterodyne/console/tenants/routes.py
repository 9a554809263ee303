"""The paths of the admin API that are about tenants and keys."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from starlette.requests import Request

from heterodyne.console.admin_route import AdminRoute, QueryWord
from heterodyne.console.guard import Body, Guard
from heterodyne.console.tenants.page_query import LIMIT_DEFAULT, read_page
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
from heterodyne.domain.errors import HeterodyneError, UnknownName
from heterodyne.domain.tenant import Organisation, Project
from heterodyne.ports.tenant_changes import (
    AlreadyThere,
    KeyDraft,
    KeyEdit,
    KeySpent,
    KeyView,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
)
from heterodyne.ports.tenants import PAGE_MAX

PAGE: tuple[QueryWord, ...] = (
    QueryWord(name="after", description="The `next_after` of the page before."),
    QueryWord(
        name="limit",
        description="How many at most.",
        schema={"type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": LIMIT_DEFAULT},
    ),
)
OF_ORGANISATION = QueryWord(name="organisation", description="Only those of this organisation.")
OF_PROJECT = QueryWord(name="project", description="Only those of this project.")
WITH_SPENT = QueryWord(
    name="with_spent",
    description="With those that were revoked or have expired.",
    schema={"type": "string", "enum": ["true", "false"], "default": "false"},
)


def tenant_routes(guard: Guard, service: TenantService) -> list[AdminRoute]:
    """Every path, each behind the guard; changes first, as a path that both could be is one that only GET may read."""
    return [*_changes(guard, service), *_reads(guard, service)]


def _changes(guard: Guard, service: TenantService) -> list[AdminRoute]:
    def change(
        path: str,
        summary: str,
        kind: type[Body],
        act: Callable[[Body, str], Awaitable[Struct]],
        answer: type[Struct],
        *raises: type[HeterodyneError],
    ) -> AdminRoute:
        assert issubclass(kind, Struct)
        return AdminRoute(
            method="POST",
            path=f"/admin/{path}",
            endpoint=guard.changing("tenant_change", act.__name__, kind, act),
            summary=summary,
            body=kind,
            answer=answer,
            raises=(UnknownName, *raises),
        )

    organisation, project, key = OrganisationChanged, ProjectChanged, KeyChanged
    return [
        change(
            "organisations",
            "Create an organisation",
            OrganisationDraft,
            service.create_organisation,
            organisation,
            AlreadyThere,
        ),
        change(
            "organisations/update",
            "Change an organisation",
            OrganisationEdit,
            service.update_organisation,
            organisation,
        ),
        change(
            "organisations/disable", "Refuse an organisation's keys", Named, service.disable_organisation, organisation
        ),
        change(
            "organisations/enable",
            "Take an organisation's keys again",
            Named,
            service.enable_organisation,
            organisation,
        ),
        change("projects", "Create a project", ProjectDraft, service.create_project, project, AlreadyThere),
        change("projects/update", "Change a project", ProjectEdit, service.update_project, project),
        change("projects/disable", "Refuse a project's keys", Named, service.disable_project, project),
        change("projects/enable", "Take a project's keys again", Named, service.enable_project, project),
        change("keys", "Issue a key", KeyDraft, service.create_key, KeyIssued, AlreadyThere),
        change("keys/update", "Change a key", KeyEdit, service.update_key, key, KeySpent),
        change(
            "keys/rotate",
            "Issue the successor of a key",
            Rotation,
            service.rotate_key,
            KeyIssued,
            AlreadyThere,
            KeySpent,
        ),
        change("keys/revoke", "Refuse a key from now on", Named, service.revoke_key, key),
    ]


def _reads(guard: Guard, service: TenantService) -> list[AdminRoute]:
    async def organisations(request: Request) -> OrganisationPage:
        return await service.organisations(read_page(request.query_params))

    async def organisation(request: Request) -> Organisation:
        return await service.organisation(request.path_params["id"])

    async def projects(request: Request) -> ProjectPage:
        return await service.projects(read_page(request.query_params, of="organisation"))

    async def project(request: Request) -> Project:
        return await service.project(f"{request.path_params['organisation']}/{request.path_params['name']}")

    async def keys(request: Request) -> KeyPage:
        return await service.keys(read_page(request.query_params, of="project", may_be_spent=True))

    async def key(request: Request) -> KeyView:
        return await service.key(request.path_params["id"])

    def read(
        path: str,
        summary: str,
        handle: Callable[[Request], Awaitable[Struct]],
        answer: type[Struct],
        query: tuple[QueryWord, ...] = (),
    ) -> AdminRoute:
        return AdminRoute(
            method="GET",
            path=f"/admin/{path}",
            endpoint=guard.reading(handle),
            summary=summary,
            answer=answer,
            query=query,
            raises=(UnknownName,),
        )

    return [
        read("organisations", "List organisations", organisations, OrganisationPage, PAGE),
        read("organisations/{id}", "Describe one organisation", organisation, Organisation),
        read("projects", "List projects", projects, ProjectPage, (*PAGE, OF_ORGANISATION)),
        read("projects/{organisation}/{name}", "Describe one project", project, Project),
        read("keys", "List keys", keys, KeyPage, (*PAGE, OF_PROJECT, WITH_SPENT)),
        read("keys/{id}", "Describe one key", key, KeyView),
    ]
