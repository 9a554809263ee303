"""How tenants are changed, as scripts for either database: the rules, and one change per transaction.

Each begins by taking the next version. On PostgreSQL that locks a row, so changes happen one after another and what a
script has read stays true until it ends; SQLite has one writer at a time anyway.
"""

from typing import TypeVar

from msgspec import UNSET, Struct, structs

from heterodyne.domain.tenant import Key, KeyId, Organisation, Project, ProjectId
from heterodyne.ports.tenant_changes import (
    AlreadyThere,
    ChangeKind,
    KeyDraft,
    KeyEdit,
    KeySpent,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
    TenantChange,
)
from heterodyne.stores.script import Script, Statement
from heterodyne.stores.tenant_reads import (
    WORKS,
    read_key,
    read_organisation,
    read_project,
    try_organisation,
    try_project,
)
from heterodyne.stores.tenant_rows import (
    KEY,
    ORGANISATION,
    PROJECT,
    key_values,
    organisation_values,
    project_values,
    view_of,
)
from heterodyne.stores.tenant_values import check, check_expiry, new_organisation, new_project

ORGANISATIONS_MAX = 10_000
PROJECTS_MAX = 20_000
KEYS_MAX = 20_000  # that work: every worker reads them all again with each change


class Act(Struct, frozen=True, kw_only=True):
    """Who does something, and when."""

    who: str
    at: float


class NewSecret(Struct, frozen=True, kw_only=True):
    """The parts of a new key that chance decides; the secret itself stays with whoever drew it."""

    id: KeyId
    sha256: str


def create_organisation(draft: OrganisationDraft, act: Act) -> Script[TenantChange]:
    """A name that nobody has."""
    check(draft)
    new = new_organisation(draft)
    version = yield from _next_version()
    if (yield from try_organisation(new.id)) is not None:
        raise AlreadyThere(f'there is an organisation "{new.id}" already', param="id")
    yield from _check_room("organisations", ORGANISATIONS_MAX)
    yield Statement(
        f"INSERT INTO organisations ({ORGANISATION}) VALUES ($1, $2, $3)",  # noqa: S608 - columns of ours
        organisation_values(new),
    )
    return _changed(version, act, ChangeKind.ORGANISATION_CREATED, None, new)


def update_organisation(edit: OrganisationEdit, act: Act) -> Script[TenantChange]:
    """One that there is."""
    check(edit)
    version = yield from _next_version()
    before = yield from read_organisation(edit.id)
    after = _edited(before, edit)
    yield Statement("UPDATE organisations SET limits = $2, is_disabled = $3 WHERE id = $1", organisation_values(after))
    kind = _kind_of_update(
        before,
        after,
        ChangeKind.ORGANISATION_DISABLED,
        ChangeKind.ORGANISATION_ENABLED,
        ChangeKind.ORGANISATION_UPDATED,
    )
    return _changed(version, act, kind, before, after)


def create_project(draft: ProjectDraft, salt: bytes, act: Act) -> Script[TenantChange]:
    """A name that nobody has, in an organisation that there is; the salt is its own for ever."""
    check(draft)
    new = new_project(draft)
    version = yield from _next_version()
    yield from read_organisation(new.organisation)
    if (yield from try_project(new.id)) is not None:
        raise AlreadyThere(f'there is a project "{new.id}" already', param="id")
    yield from _check_room("projects", PROJECTS_MAX)
    yield Statement(
        f"INSERT INTO projects ({PROJECT}, salt) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",  # noqa: S608
        (*project_values(new), salt),
    )
    return _changed(version, act, ChangeKind.PROJECT_CREATED, None, new)


def update_project(edit: ProjectEdit, act: Act) -> Script[TenantChange]:
    """One that there is; it stays with its organisation."""
    check(edit)
    version = yield from _next_version()
    before = yield from read_project(edit.id)
    after = _edited(before, edit)
    yield Statement(
        "UPDATE projects SET organisation = $2, tier = $3, weight = $4, limits = $5, scopes = $6, is_disabled = $7, "
        "keeps_content = $8 WHERE id = $1",
        project_values(after),
    )
    kind = _kind_of_update(
        before, after, ChangeKind.PROJECT_DISABLED, ChangeKind.PROJECT_ENABLED, ChangeKind.PROJECT_UPDATED
    )
    return _changed(version, act, kind, before, after)


def create_key(draft: KeyDraft, secret: NewSecret, act: Act) -> Script[TenantChange]:
    """For a project that there is."""
    check(draft)
    check_expiry(draft.expires_at, act.at)
    version = yield from _next_version()
    yield from read_project(draft.project)
    new = Key(
        id=secret.id,
        project=ProjectId(draft.project),
        secret_sha256=secret.sha256,
        name=draft.name,
        tier=draft.tier,
        limits=draft.limits,
        scopes=draft.scopes,
        created_at=act.at,
        expires_at=draft.expires_at,
    )
    yield from _insert_key(new, act.at)
    return _key_changed(version, act, ChangeKind.KEY_CREATED, None, new)


def update_key(edit: KeyEdit, act: Act) -> Script[TenantChange]:
    """One that works; its secret stays."""
    check(edit)
    if edit.expires_at is not UNSET:
        check_expiry(edit.expires_at, act.at)
    version = yield from _next_version()
    before = yield from _working_key(edit.id, act.at)
    after = _edited(before, edit)
    yield from _update_key(after)
    return _key_changed(version, act, ChangeKind.KEY_UPDATED, before, after)


def rotate_key(rotation: Rotation, secret: NewSecret, act: Act) -> Script[TenantChange]:
    """A successor with the same rights; the old one works beside it for the overlap, and never longer than before."""
    check(rotation)
    version = yield from _next_version()
    before = yield from _working_key(rotation.id, act.at)
    if before.replaced_by is not None:
        raise KeySpent(f'the key "{before.id}" has a successor already: rotate {before.replaced_by}')
    expires_at = before.expires_at if rotation.expires_at is UNSET else rotation.expires_at
    check_expiry(expires_at, act.at)
    successor = structs.replace(
        before, id=secret.id, secret_sha256=secret.sha256, created_at=act.at, expires_at=expires_at
    )
    ends_at = act.at + rotation.overlap_s
    after = structs.replace(
        before,
        expires_at=ends_at if before.expires_at is None else min(before.expires_at, ends_at),
        replaced_by=secret.id,
    )
    yield from _insert_key(successor, act.at)
    yield from _update_key(after)
    change = _key_changed(version, act, ChangeKind.KEY_ROTATED, before, after)
    return structs.replace(change, successor=view_of(successor))


def revoke_key(id: str, act: Act) -> Script[TenantChange]:
    """From now on; the first time counts."""
    version = yield from _next_version()
    before = yield from read_key(id)
    after = before if before.revoked_at is not None else structs.replace(before, revoked_at=act.at)
    yield from _update_key(after)
    return _key_changed(version, act, ChangeKind.KEY_REVOKED, before, after)


def _next_version() -> Script[int]:
    [(version,)] = yield Statement("UPDATE tenants_version SET version = version + 1 RETURNING version")
    assert isinstance(version, int)
    return version


def _check_room(table: str, count_max: int) -> Script[None]:
    [(count,)] = yield Statement(f"SELECT count(*) FROM {table}")  # noqa: S608 - a table of ours
    if count >= count_max:
        raise AlreadyThere(f"there are {count} {table} already, as many as there may be")


def _working_key(id: str, now_s: float) -> Script[Key]:
    key = yield from read_key(id)
    if key.revoked_at is not None:
        raise KeySpent(f'the key "{key.id}" is revoked; create another for {key.project}')
    if key.expires_at is not None and key.expires_at <= now_s:
        raise KeySpent(f'the key "{key.id}" has expired; create another for {key.project}')
    return key


def _insert_key(new: Key, now_s: float) -> Script[None]:
    [(count,)] = yield Statement(f"SELECT count(*) FROM keys WHERE {WORKS}", (now_s,))  # noqa: S608
    if count >= KEYS_MAX:
        raise AlreadyThere(f"there are {count} working keys already, as many as there may be: revoke some")
    yield Statement(
        f"INSERT INTO keys ({KEY}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",  # noqa: S608
        key_values(new),
    )


def _update_key(after: Key) -> Script[None]:
    yield Statement(
        "UPDATE keys SET name = $2, tier = $3, limits = $4, scopes = $5, expires_at = $6, revoked_at = $7, "
        "replaced_by = $8 WHERE id = $1",
        (after.id, *key_values(after)[3:7], *key_values(after)[8:]),
    )


Kept = TypeVar("Kept", Organisation, Project, Key)


def _edited(before: Kept, edit: Struct) -> Kept:
    said = {field: getattr(edit, field) for field in edit.__struct_fields__ if field != "id"}
    return structs.replace(before, **{field: value for field, value in said.items() if value is not UNSET})


def _kind_of_update(
    before: Organisation | Project,
    after: Organisation | Project,
    disabled: ChangeKind,
    enabled: ChangeKind,
    updated: ChangeKind,
) -> ChangeKind:
    """The word for the weightiest thing that changed."""
    if before.is_disabled == after.is_disabled:
        return updated
    return disabled if after.is_disabled else enabled


def _changed(
    version: int,
    act: Act,
    kind: ChangeKind,
    before: Organisation | Project | None,
    after: Organisation | Project,
) -> TenantChange:
    return TenantChange(
        version=version, at=act.at, who=act.who, kind=kind, subject=after.id, before=before, after=after
    )


def _key_changed(version: int, act: Act, kind: ChangeKind, before: Key | None, after: Key) -> TenantChange:
    return TenantChange(
        version=version,
        at=act.at,
        who=act.who,
        kind=kind,
        subject=after.id,
        before=None if before is None else view_of(before),
        after=view_of(after),
    )
