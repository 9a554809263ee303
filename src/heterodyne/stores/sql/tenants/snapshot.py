"""Rows of one moment become what the data plane reads: one caller per key that works."""

from heterodyne.domain.issued_token import stand_in_of
from heterodyne.domain.tenant import Caller, Key, Level, Limits, Organisation, Project, Scopes, TenantSnapshot

NO_LIMITS = Limits()
NO_SCOPES = Scopes()
NAMED_MAX = 100  # rows with something that cannot be read: every worker gets them


def snapshot_of(
    version: int,
    organisations: list[Organisation],
    projects: list[tuple[Project, bytes]],
    keys: list[Key],
    *,
    has_keys: bool,
) -> TenantSnapshot:
    """Projects come with their salts; keys of what is disabled are left out, so that they are as unknown as any.

    A row that cannot be read refuses the keys that depend on it, and no others.
    """
    payers = {one.id: one for one in organisations if not one.is_disabled}
    tenants = {one.id: (one, salt) for one, salt in projects if not one.is_disabled and one.organisation in payers}
    callers, unreadable = {}, []
    for key in keys:
        if key.project not in tenants:
            continue
        project, salt = tenants[key.project]
        payer = payers[project.organisation]
        if key.problem or project.problem or payer.problem:
            unreadable.append(key.secret_sha256)
        else:
            callers[key.secret_sha256] = _caller(key, project, payer, salt)
    rows: list[tuple[str, Organisation | Project | Key]] = [
        *((f"organisation {one.id}", one) for one in organisations),
        *((f"project {one.id}", one) for one, _ in projects),
        *((f"key {one.id}", one) for one in keys),
    ]
    return TenantSnapshot(
        version=version,
        callers=callers,
        projects=tuple(
            _caller(_no_key(project), project, payers[project.organisation], salt)
            for project, salt in tenants.values()
            if not project.problem and not payers[project.organisation].problem
        ),
        has_keys=has_keys,
        unreadable=tuple(unreadable),
        problems=tuple(f"{name}: {row.problem}" for name, row in rows if row.problem)[:NAMED_MAX],
        unread=tuple(f"{name}: {field}" for name, row in rows for field in row.unread)[:NAMED_MAX],
    )


def _no_key(project: Project) -> Key:
    """What tokens bring in place of one: nothing but the project's own limits and scopes."""
    return Key(id=stand_in_of(project.id), project=project.id, secret_sha256="")


def _caller(key: Key, project: Project, organisation: Organisation, salt: bytes) -> Caller:
    levels = (
        Level(name=f"organisation:{organisation.id}", limits=organisation.limits),
        Level(name=f"project:{project.id}", limits=project.limits),
        Level(name=f"key:{key.id}", limits=key.limits),
    )
    return Caller(
        key=key.id,
        project=project.id,
        organisation=organisation.id,
        salt=salt,
        tier=key.tier or project.tier,
        weight=project.weight,
        scopes=tuple(scopes for scopes in (key.scopes, project.scopes) if scopes != NO_SCOPES),
        levels=tuple(level for level in levels if level.limits != NO_LIMITS),
        expires_at=key.expires_at,
        keeps_content=project.keeps_content,
    )
