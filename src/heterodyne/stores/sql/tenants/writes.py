"""How tenants are changed, as scripts for either database: the rules, and one change per transaction.

Each begins by taking the next version. On PostgreSQL that locks a row, so changes happen one after another and what a
script has read stays true until it ends; SQLite has one writer at a time anyway.
"""

from collections.abc import Mapping

from msgspec import UNSET, Struct, structs

from heterodyne.domain.tenant import Key, KeyId, Limits, Organisation, Project, ProjectId, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.ports.tenant_changes import (
    AlreadyThere,
    KeyDraft,
    KeyEdit,
    KeySpent,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
    TenantChange,
    TenantChangeKind,
)
from heterodyne.stores.sql.script import Script, Statement
from heterodyne.stores.sql.tenants.reads import (
    WORKS,
    read_key,
    read_organisation,
    read_project,
    try_organisation,
    try_project,
)
from heterodyne.stores.sql.tenants.rows import (
    KEY,
    ORGANISATION,
    PROJECT,
    key_values,
    organisation_values,
    project_values,
    view_of,
)
from heterodyne.stores.sql.tenants.stored_row import carried
from heterodyne.stores.sql.tenants.values import check, check_expiry, new_organisation, new_project

ORGANISATIONS_MAX = 10_000
PROJECTS_MAX = 20_000
KEYS_MAX = 20_000  # that work: every worker reads them all again with each change


class Act(Struct, frozen=True, kw_only=True):
    """Who does something, and when."""

    who: str
    at: float


class NewSecret(Struct, frozen=True, kw_only=True):
    """The parts of a new key that chance decides; the secret itself stays with the caller."""

    id: KeyId
    sha256: str


def create_organisation(draft: OrganisationDraft, act: Act) -> Script[TenantChange]:
    """A name that is not taken."""
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
    return _changed(version, act, TenantChangeKind.ORGANISATION_CREATED, None, new)


def update_organisation(edit: OrganisationEdit, act: Act) -> Script[TenantChange]:
    """One that there is."""
    check(edit)
    version = yield from _next_version()
    before = yield from read_organisation(edit.id)
    yield from _store("organisations", edit.id, _edited_fields(edit))
    after = yield from read_organisation(edit.id)
    kind = _kind_of_update(
        before,
        after,
        TenantChangeKind.ORGANISATION_DISABLED,
        TenantChangeKind.ORGANISATION_ENABLED,
        TenantChangeKind.ORGANISATION_UPDATED,
    )
    return _changed(version, act, kind, before, after)


def create_project(draft: ProjectDraft, salt: bytes, act: Act) -> Script[TenantChange]:
    """A name that is not taken, in an organisation that there is; the salt is its own for ever."""
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
    return _changed(version, act, TenantChangeKind.PROJECT_CREATED, None, new)


def update_project(edit: ProjectEdit, act: Act) -> Script[TenantChange]:
    """One that there is; it stays with its organisation."""
    check(edit)
    version = yield from _next_version()
    before = yield from read_project(edit.id)
    yield from _store("projects", edit.id, _edited_fields(edit))
    after = yield from read_project(edit.id)
    kind = _kind_of_update(
        before,
        after,
        TenantChangeKind.PROJECT_DISABLED,
        TenantChangeKind.PROJECT_ENABLED,
        TenantChangeKind.PROJECT_UPDATED,
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
    return _key_changed(version, act, TenantChangeKind.KEY_CREATED, None, new)


def update_key(edit: KeyEdit, act: Act) -> Script[TenantChange]:
    """One that works; its secret stays."""
    check(edit)
    if edit.expires_at is not UNSET:
        check_expiry(edit.expires_at, act.at)
    version = yield from _next_version()
    before = yield from _working_key(edit.id, act.at)
    yield from _store("keys", edit.id, _edited_fields(edit))
    after = yield from read_key(edit.id)
    return _key_changed(version, act, TenantChangeKind.KEY_UPDATED, before, after)


def rotate_key(rotation: Rotation, secret: NewSecret, act: Act) -> Script[TenantChange]:
    """A successor with the same rights; the old one works beside it for the overlap, and never longer than before."""
    check(rotation)
    version = yield from _next_version()
    before = yield from _working_key(rotation.id, act.at)
    if before.replaced_by is not None:
        raise KeySpent(f'the key "{before.id}" has a successor already: rotate {before.replaced_by}')
    expires_at = before.expires_at if rotation.expires_at is UNSET else rotation.expires_at
    check_expiry(expires_at, act.at)
    ends_at = act.at + rotation.overlap_s
    ends_at = ends_at if before.expires_at is None else min(before.expires_at, ends_at)
    yield from _check_keys(act.at)
    yield Statement(
        f"INSERT INTO keys ({KEY}) SELECT CAST($1 AS TEXT), project, CAST($2 AS TEXT), name, tier, limits, scopes, "  # noqa: S608
        "CAST($3 AS DOUBLE PRECISION), CAST($4 AS DOUBLE PRECISION), NULL, NULL FROM keys WHERE id = $5",
        (secret.id, secret.sha256, act.at, expires_at, before.id),
    )
    yield from _store("keys", before.id, {"expires_at": ends_at, "replaced_by": secret.id})
    after, successor = (yield from read_key(before.id)), (yield from read_key(secret.id))
    change = _key_changed(version, act, TenantChangeKind.KEY_ROTATED, before, after)
    return structs.replace(change, successor=view_of(successor))


def revoke_key(id: str, act: Act) -> Script[TenantChange]:
    """From now on; the first time counts."""
    version = yield from _next_version()
    before = yield from read_key(id)
    if before.revoked_at is None:
        yield from _store("keys", before.id, {"revoked_at": act.at})
    after = yield from read_key(id)
    return _key_changed(version, act, TenantChangeKind.KEY_REVOKED, before, after)


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


def _check_keys(now_s: float) -> Script[None]:
    [(count,)] = yield Statement(f"SELECT count(*) FROM keys WHERE {WORKS}", (now_s,))  # noqa: S608
    if count >= KEYS_MAX:
        raise AlreadyThere(f"there are {count} working keys already, as many as there may be: revoke some")


def _insert_key(new: Key, now_s: float) -> Script[None]:
    yield from _check_keys(now_s)
    yield Statement(
        f"INSERT INTO keys ({KEY}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",  # noqa: S608
        key_values(new),
    )


def _store(table: str, id: str, fields: Mapping[str, object]) -> Script[None]:
    """Only the fields given: the other columns, and what this version does not know of limits and scopes, stay."""
    values: list[object] = [id]
    for column, value in fields.items():
        if isinstance(value, Limits | Scopes):
            [(stored,)] = yield Statement(f"SELECT {column} FROM {table} WHERE id = $1", (id,))  # noqa: S608 - ours
            values.append(carried(stored, value))
        else:
            values.append(value.value if isinstance(value, Tier) else value)
    if fields:
        places = ", ".join(f"{column} = ${number}" for number, column in enumerate(fields, 2))
        yield Statement(f"UPDATE {table} SET {places} WHERE id = $1", tuple(values))  # noqa: S608 - columns of ours


def _edited_fields(edit: Struct) -> dict[str, object]:
    """What becomes different, by column."""
    fields = {field: getattr(edit, field) for field in edit.__struct_fields__ if field != "id"}
    return {field: value for field, value in fields.items() if value is not UNSET}


def _kind_of_update(
    before: Organisation | Project,
    after: Organisation | Project,
    disabled: TenantChangeKind,
    enabled: TenantChangeKind,
    updated: TenantChangeKind,
) -> TenantChangeKind:
    """The word for the weightiest thing that changed."""
    if before.is_disabled == after.is_disabled:
        return updated
    return disabled if after.is_disabled else enabled


def _changed(
    version: int,
    act: Act,
    kind: TenantChangeKind,
    before: Organisation | Project | None,
    after: Organisation | Project,
) -> TenantChange:
    return TenantChange(
        version=version, at=act.at, who=act.who, kind=kind, subject=after.id, before=before, after=after
    )


def _key_changed(version: int, act: Act, kind: TenantChangeKind, before: Key | None, after: Key) -> TenantChange:
    return TenantChange(
        version=version,
        at=act.at,
        who=act.who,
        kind=kind,
        subject=after.id,
        before=None if before is None else view_of(before),
        after=view_of(after),
    )
