"""Callers that were never in a store, for gateways that are handed their tenants."""

from hashlib import sha256

from heterodyne.domain.tenant import Caller, KeyId, Level, Limits, OrganisationId, ProjectId, Scopes, TenantSnapshot
from heterodyne.domain.urgency import Tier

PROJECT = "acme/search"
PROJECT_LEVEL = f"project:{PROJECT}"


def caller(
    project: str = PROJECT,
    *,
    limits: Limits | None = None,
    levels: tuple[Level, ...] = (),
    tier: Tier = Tier.SILVER,
    weight: float = 1.0,
    scopes: tuple[Scopes, ...] = (),
) -> Caller:
    """A key of the project; `limits` are the project's own."""
    if limits is not None:
        levels = (*levels, Level(name=f"project:{project}", limits=limits))
    return Caller(
        key=KeyId(f"key_{project.replace('/', '_')}"),
        project=ProjectId(project),
        organisation=OrganisationId(project.partition("/")[0]),
        salt=project.encode(),
        tier=tier,
        weight=weight,
        scopes=scopes,
        levels=levels,
    )


def tenants(**callers: Caller) -> TenantSnapshot:
    """By their secrets; a gateway that is given them serves nobody else."""
    return TenantSnapshot(
        version=1, callers={sha256(secret.encode()).hexdigest(): one for secret, one in callers.items()}
    )


def bearer(secret: str) -> str:
    """The header that says who asks."""
    return f"authorization: Bearer {secret}"
