"""Rows of one moment become what the data plane reads: one caller per key that works."""

from heterodyne.domain.tenant import Caller, Key, Level, Limits, Organisation, Project, Scopes, TenantSnapshot

NO_LIMITS = Limits()
NO_SCOPES = Scopes()


def snapshot_of(
    version: int,
    organisations: list[Organisation],
    projects: list[tuple[Project, bytes]],
    keys: list[Key],
    *,
    has_keys: bool,
) -> TenantSnapshot:
    """Projects come with their salts; keys of what is disabled are left out, so that they are as unknown as any."""
    payers = {one.id: one for one in organisations if not one.is_disabled}
    tenants = {one.id: (one, salt) for one, salt in projects if not one.is_disabled and one.organisation in payers}
    callers = {}
    for key in keys:
        if key.project in tenants:
            project, salt = tenants[key.project]
            callers[key.secret_sha256] = _caller(key, project, payers[project.organisation], salt)
    return TenantSnapshot(version=version, callers=callers, has_keys=has_keys)


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
