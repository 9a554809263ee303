"""Tenants as rows of a table and back; both databases give and take the same tuples."""

import msgspec

from heterodyne.domain.tenant import Key, KeyId, Limits, Organisation, OrganisationId, Project, ProjectId, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.ports.tenant_changes import KeyView
from heterodyne.stores.sql.script import Row
from heterodyne.stores.sql.tenants.stored_row import StoredRow

ORGANISATION = "id, limits, is_disabled"
PROJECT = "id, organisation, tier, weight, limits, scopes, is_disabled, keeps_content"
KEY = "id, project, secret_sha256, name, tier, limits, scopes, created_at, expires_at, revoked_at, replaced_by"


def organisation_of(row: Row) -> Organisation:
    """From the columns ORGANISATION, as far as they can be read."""
    read = StoredRow()
    limits = read.document("limits", row[1], Limits)
    return Organisation(
        id=OrganisationId(row[0]),
        limits=limits,
        is_disabled=bool(row[2]),
        unread=read.unread,
        problem=read.problem,
    )


def organisation_values(one: Organisation) -> tuple[object, ...]:
    """In the order of ORGANISATION."""
    return (one.id, _write(one.limits), one.is_disabled)


def project_of(row: Row) -> Project:
    """From the columns PROJECT, as far as they can be read; more may follow them."""
    read = StoredRow()
    tier, weight = read.choice("tier", row[2], Tier, Tier.SILVER), read.weight(row[3])
    limits, scopes = read.document("limits", row[4], Limits), read.document("scopes", row[5], Scopes)
    return Project(
        id=ProjectId(row[0]),
        organisation=OrganisationId(row[1]),
        tier=tier,
        weight=weight,
        limits=limits,
        scopes=scopes,
        is_disabled=bool(row[6]),
        keeps_content=bool(row[7]),
        unread=read.unread,
        problem=read.problem,
    )


def project_values(one: Project) -> tuple[object, ...]:
    """In the order of PROJECT."""
    return (
        one.id,
        one.organisation,
        one.tier.value,
        one.weight,
        _write(one.limits),
        _write(one.scopes),
        one.is_disabled,
        one.keeps_content,
    )


def key_of(row: Row) -> Key:
    """From the columns KEY, as far as they can be read."""
    read = StoredRow()
    digest = read.digest(row[2])
    tier = None if row[4] is None else read.choice("tier", row[4], Tier, Tier.SILVER)
    limits, scopes = read.document("limits", row[5], Limits), read.document("scopes", row[6], Scopes)
    return Key(
        id=KeyId(row[0]),
        project=ProjectId(row[1]),
        secret_sha256=digest,
        name=row[3],
        tier=tier,
        limits=limits,
        scopes=scopes,
        created_at=row[7],
        expires_at=row[8],
        revoked_at=row[9],
        replaced_by=None if row[10] is None else KeyId(row[10]),
        unread=read.unread,
        problem=read.problem,
    )


def key_values(one: Key) -> tuple[object, ...]:
    """In the order of KEY."""
    return (
        one.id,
        one.project,
        one.secret_sha256,
        one.name,
        None if one.tier is None else one.tier.value,
        _write(one.limits),
        _write(one.scopes),
        one.created_at,
        one.expires_at,
        one.revoked_at,
        one.replaced_by,
    )


def view_of(key: Key) -> KeyView:
    """What may be shown of it."""
    return KeyView(
        id=key.id,
        project=key.project,
        name=key.name,
        tier=key.tier,
        limits=key.limits,
        scopes=key.scopes,
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        replaced_by=key.replaced_by,
        unread=key.unread,
        problem=key.problem,
    )


def _write(document: Limits | Scopes) -> str:
    return msgspec.json.encode(document).decode()
