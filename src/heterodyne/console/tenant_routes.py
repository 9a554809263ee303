"""The paths of the admin API that are about tenants and keys."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.routing import Route

from heterodyne.console.guard import Body, Endpoint, Guard
from heterodyne.console.tenant_pages import KeyPage, OrganisationPage, ProjectPage
from heterodyne.console.tenant_query import read_page
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


def tenant_routes(guard: Guard, desk: TenantDesk) -> list[Route]:
    """Every path, each behind the guard."""

    async def organisations(request: Request) -> OrganisationPage:
        return await desk.organisations(read_page(request.query_params))

    async def organisation(request: Request) -> Organisation:
        return await desk.organisation(request.path_params["id"])

    async def projects(request: Request) -> ProjectPage:
        return await desk.projects(read_page(request.query_params, of="organisation"))

    async def project(request: Request) -> Project:
        return await desk.project(f"{request.path_params['organisation']}/{request.path_params['name']}")

    async def keys(request: Request) -> KeyPage:
        return await desk.keys(read_page(request.query_params, of="project", may_be_spent=True))

    async def key(request: Request) -> KeyView:
        return await desk.key(request.path_params["id"])

    def change(name: str, kind: type[Body], act: Callable[[Body, str], Awaitable[object]]) -> Endpoint:
        return guard.changing_as("tenant_change", name, kind, act)

    changes: tuple[tuple[str, Endpoint], ...] = (
        ("/admin/organisations", change("create_organisation", OrganisationDraft, desk.create_organisation)),
        ("/admin/organisations/update", change("update_organisation", OrganisationEdit, desk.update_organisation)),
        ("/admin/organisations/disable", change("disable_organisation", Named, desk.disable_organisation)),
        ("/admin/organisations/enable", change("enable_organisation", Named, desk.enable_organisation)),
        ("/admin/projects", change("create_project", ProjectDraft, desk.create_project)),
        ("/admin/projects/update", change("update_project", ProjectEdit, desk.update_project)),
        ("/admin/projects/disable", change("disable_project", Named, desk.disable_project)),
        ("/admin/projects/enable", change("enable_project", Named, desk.enable_project)),
        ("/admin/keys", change("create_key", KeyDraft, desk.create_key)),
        ("/admin/keys/update", change("update_key", KeyEdit, desk.update_key)),
        ("/admin/keys/rotate", change("rotate_key", Rotation, desk.rotate_key)),
        ("/admin/keys/revoke", change("revoke_key", Named, desk.revoke_key)),
    )
    reads: tuple[tuple[str, Endpoint], ...] = (
        ("/admin/organisations", guard.reading(organisations)),
        ("/admin/organisations/{id}", guard.reading(organisation)),
        ("/admin/projects", guard.reading(projects)),
        ("/admin/projects/{organisation}/{name}", guard.reading(project)),
        ("/admin/keys", guard.reading(keys)),
        ("/admin/keys/{id}", guard.reading(key)),
    )
    return [
        # Changes come first: a path that both could be is one that only GET may read.
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in changes),
        *(Route(path, endpoint, methods=["GET"]) for path, endpoint in reads),
    ]
