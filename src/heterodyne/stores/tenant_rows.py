"""Tenants as rows of a table and back; both databases give and take the same tuples."""

import msgspec

from heterodyne.domain.tenant import Key, KeyId, Limits, Organisation, OrganisationId, Project, ProjectId, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.ports.tenant_changes import KeyView
from heterodyne.stores.script import Row

ORGANISATION = "id, limits, is_disabled"
PROJECT = "id, organisation, tier, weight, limits, scopes, is_disabled, keeps_content"
KEY = "id, project, secret_sha256, name, tier, limits, scopes, created_at, expires_at, revoked_at, replaced_by"

_read_limits = msgspec.json.Decoder(Limits).decode
_read_scopes = msgspec.json.Decoder(Scopes).decode


def organisation_of(row: Row) -> Organisation:
    """From the columns ORGANISATION."""
    return Organisation(id=OrganisationId(row[0]), limits=_read_limits(row[1]), is_disabled=bool(row[2]))


def organisation_values(one: Organisation) -> tuple[object, ...]:
    """In the order of ORGANISATION."""
    return (one.id, _write(one.limits), one.is_disabled)


def project_of(row: Row) -> Project:
    """From the columns PROJECT; more may follow them."""
    return Project(
        id=ProjectId(row[0]),
        organisation=OrganisationId(row[1]),
        tier=Tier(row[2]),
        weight=row[3],
        limits=_read_limits(row[4]),
        scopes=_read_scopes(row[5]),
        is_disabled=bool(row[6]),
        keeps_content=bool(row[7]),
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
    """From the columns KEY."""
    return Key(
        id=KeyId(row[0]),
        project=ProjectId(row[1]),
        secret_sha256=row[2],
        name=row[3],
        tier=None if row[4] is None else Tier(row[4]),
        limits=_read_limits(row[5]),
        scopes=_read_scopes(row[6]),
        created_at=row[7],
        expires_at=row[8],
        revoked_at=row[9],
        replaced_by=None if row[10] is None else KeyId(row[10]),
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
    )


def _write(document: Limits | Scopes) -> str:
    return msgspec.json.encode(document).decode()
