"""Whether what an operator says of a tenant can be; the path of what cannot is in the error."""

import math
import re

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.tenant import RESERVED_ORGANISATIONS, Organisation, OrganisationId, Project, ProjectId, Scopes
from heterodyne.ports.tenant_changes import (
    KeyDraft,
    KeyEdit,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
)

KEY_NAME_CHARS_MAX = 100
SCOPE_ENTRIES_MAX = 256
SCOPE_CHARS_MAX = 256

_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")


def check(
    asked: OrganisationDraft | OrganisationEdit | ProjectDraft | ProjectEdit | KeyDraft | KeyEdit | Rotation,
) -> None:
    """Everything but names that must exist; raises InvalidField."""
    _check_types(asked)
    for field in asked.__struct_fields__:
        value = getattr(asked, field)
        if isinstance(value, Scopes):
            _check_scopes(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise InvalidField(f"{field}: a finite number is expected.", param=field)
        elif field == "name":
            _check_key_name(value)


def new_organisation(draft: OrganisationDraft) -> Organisation:
    """One that may be stored."""
    _check_organisation(draft.id)
    return Organisation(id=OrganisationId(draft.id), limits=draft.limits)


def new_project(draft: ProjectDraft) -> Project:
    """One that may be stored."""
    organisation, slash, name = draft.id.partition("/")
    if not slash:
        raise InvalidField(
            f"id: a project is called organisation/project, for example acme/{draft.id[:63]}.", param="id"
        )
    _check_organisation(organisation)
    _check_name(name, "a project", "id")
    return Project(
        id=ProjectId(draft.id),
        organisation=OrganisationId(organisation),
        tier=draft.tier,
        weight=draft.weight,
        limits=draft.limits,
        scopes=draft.scopes,
        keeps_content=draft.keeps_content,
    )


def check_expiry(expires_at: float | None, now_s: float) -> None:
    """A key that is dead when it is born is a mistake."""
    if expires_at is not None and expires_at <= now_s:
        raise InvalidField("expires_at: this moment has passed; it is in seconds since the epoch.", param="expires_at")


def _check_types(asked: Struct) -> None:
    """A body from the network was checked when it was read; one that a program built was not."""
    try:
        msgspec.convert(msgspec.to_builtins(asked), type(asked))
    except msgspec.ValidationError as error:
        raise InvalidField(f"{error}.") from error


def _check_organisation(name: str) -> None:
    _check_name(name, "an organisation", "id")
    if name in RESERVED_ORGANISATIONS:
        raise InvalidField(f"id: {name!r} is kept for callers that are not in the database; take another.", param="id")


def _check_name(name: str, of: str, param: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidField(
            f"{param}: the name of {of} has 1 to 63 small letters, digits and hyphens, and begins with no hyphen.",
            param=param,
        )


def _check_key_name(name: object) -> None:
    if isinstance(name, str) and (len(name) > KEY_NAME_CHARS_MAX or not (name.isprintable())):
        raise InvalidField(f"name: at most {KEY_NAME_CHARS_MAX} characters, all printable.", param="name")


def _check_scopes(scopes: Scopes) -> None:
    for field in ("models", "regions"):
        entries: tuple[str, ...] = getattr(scopes, field) or ()
        path = f"scopes.{field}"
        if len(entries) > SCOPE_ENTRIES_MAX:
            raise InvalidField(f"{path}: at most {SCOPE_ENTRIES_MAX} entries.", param=path)
        for entry in entries:
            if not entry or len(entry) > SCOPE_CHARS_MAX or not entry.isprintable():
                raise InvalidField(f"{path}: an entry has 1 to {SCOPE_CHARS_MAX} printable characters.", param=path)
    for entry in scopes.models or ():
        if "*" in entry[:-1]:
            raise InvalidField(f"scopes.models: {entry!r}: a * may only be the last character.", param="scopes.models")
