"""Every operation on organisations, projects and keys: its path, its types, and the method of the service behind it.

The admin API makes its routes of this table and the command line its calls, so neither knows an operation alone.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from urllib.parse import quote, urlencode

from msgspec import Struct

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
from heterodyne.domain.errors import HeterodyneError
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

PREFIX = "/admin"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")

Body = TypeVar("Body", bound=Struct)
Answer = TypeVar("Answer", bound=Struct)
Row = TypeVar("Row")


class ChangeOperation(Struct, Generic[Body, Answer], frozen=True):
    """A change, made with POST; `act` takes the service, the body and the name of the person who asks."""

    path: str
    summary: str
    act: Callable[[TenantService, Body, str], Awaitable[Answer]]
    body: type[Body]
    answer: type[Answer]
    raises: tuple[type[HeterodyneError], ...] = ()

    @property
    def name(self) -> str:
        """As logs have it: `create_key`."""
        return self.act.__name__


class ReadOperation(Struct, Generic[Answer], frozen=True):
    """One organisation, project or key by its id."""

    path: str  # with a placeholder for each part of the id
    summary: str
    act: Callable[[TenantService, str], Awaitable[Answer]]
    answer: type[Answer]

    @property
    def id_parts(self) -> list[str]:
        """The placeholders of the path; joined with slashes they are the id."""
        return _PLACEHOLDER.findall(self.path)

    def path_of(self, id: str) -> str:
        """The path of this one."""
        names = self.id_parts
        values = [*id.split("/", len(names) - 1), *([""] * len(names))]
        return self.path.format(**{name: quote(value, safe="") for name, value in zip(names, values, strict=False)})


class ListOperation(Struct, Generic[Answer, Row], frozen=True, kw_only=True):
    """A list, page by page."""

    path: str
    summary: str
    act: Callable[[TenantService, PageQuery], Awaitable[Answer]]
    answer: type[Answer]
    rows: Callable[[Answer], tuple[tuple[Row, ...], str | None]]  # of a page, and where the next begins
    of: str | None = None  # the name of its filter: what the rows belong to
    may_be_spent: bool = False  # it may show keys that were revoked or have expired

    def path_of(self, query: PageQuery) -> str:
        """The path of this page."""
        words = {"after": query.after, "limit": query.limit, "with_spent": "true" if query.with_spent else None}
        if self.of is not None:
            words[self.of] = query.of
        return f"{self.path}?{urlencode({name: value for name, value in words.items() if value not in (None, '')})}"


CREATE_ORGANISATION = ChangeOperation(
    f"{PREFIX}/organisations",
    "Create an organisation",
    TenantService.create_organisation,
    OrganisationDraft,
    OrganisationChanged,
    (AlreadyThere,),
)
UPDATE_ORGANISATION = ChangeOperation(
    f"{PREFIX}/organisations/update",
    "Change an organisation",
    TenantService.update_organisation,
    OrganisationEdit,
    OrganisationChanged,
)
DISABLE_ORGANISATION = ChangeOperation(
    f"{PREFIX}/organisations/disable",
    "Refuse an organisation's keys",
    TenantService.disable_organisation,
    Named,
    OrganisationChanged,
)
ENABLE_ORGANISATION = ChangeOperation(
    f"{PREFIX}/organisations/enable",
    "Take an organisation's keys again",
    TenantService.enable_organisation,
    Named,
    OrganisationChanged,
)
CREATE_PROJECT = ChangeOperation(
    f"{PREFIX}/projects",
    "Create a project",
    TenantService.create_project,
    ProjectDraft,
    ProjectChanged,
    (AlreadyThere,),
)
UPDATE_PROJECT = ChangeOperation(
    f"{PREFIX}/projects/update", "Change a project", TenantService.update_project, ProjectEdit, ProjectChanged
)
DISABLE_PROJECT = ChangeOperation(
    f"{PREFIX}/projects/disable", "Refuse a project's keys", TenantService.disable_project, Named, ProjectChanged
)
ENABLE_PROJECT = ChangeOperation(
    f"{PREFIX}/projects/enable", "Take a project's keys again", TenantService.enable_project, Named, ProjectChanged
)
CREATE_KEY = ChangeOperation(
    f"{PREFIX}/keys", "Issue a key", TenantService.create_key, KeyDraft, KeyIssued, (AlreadyThere,)
)
UPDATE_KEY = ChangeOperation(
    f"{PREFIX}/keys/update", "Change a key", TenantService.update_key, KeyEdit, KeyChanged, (KeySpent,)
)
ROTATE_KEY = ChangeOperation(
    f"{PREFIX}/keys/rotate",
    "Issue the successor of a key",
    TenantService.rotate_key,
    Rotation,
    KeyIssued,
    (AlreadyThere, KeySpent),
)
REVOKE_KEY = ChangeOperation(
    f"{PREFIX}/keys/revoke", "Refuse a key from now on", TenantService.revoke_key, Named, KeyChanged
)

ORGANISATIONS = ListOperation(
    path=f"{PREFIX}/organisations",
    summary="List organisations",
    act=TenantService.organisations,
    answer=OrganisationPage,
    rows=lambda page: (page.organisations, page.next_after),
)
ORGANISATION = ReadOperation(
    f"{PREFIX}/organisations/{{id}}", "Describe one organisation", TenantService.organisation, Organisation
)
PROJECTS = ListOperation(
    path=f"{PREFIX}/projects",
    summary="List projects",
    act=TenantService.projects,
    answer=ProjectPage,
    rows=lambda page: (page.projects, page.next_after),
    of="organisation",
)
PROJECT = ReadOperation(
    f"{PREFIX}/projects/{{organisation}}/{{name}}", "Describe one project", TenantService.project, Project
)
KEYS = ListOperation(
    path=f"{PREFIX}/keys",
    summary="List keys",
    act=TenantService.keys,
    answer=KeyPage,
    rows=lambda page: (page.keys, page.next_after),
    of="project",
    may_be_spent=True,
)
KEY = ReadOperation(f"{PREFIX}/keys/{{id}}", "Describe one key", TenantService.key, KeyView)
