"""Tenants and keys as columns for people."""

from datetime import UTC, datetime

import msgspec

from heterodyne.domain.tenant import Limits, Organisation, Project, Scopes
from heterodyne.ports.tenant_changes import KeyView

TENANT_HEADER = ("TENANT", "STATE", "TIER", "WEIGHT", "LIMITS", "SCOPES")
KEY_HEADER = ("KEY", "PROJECT", "NAME", "STATE", "TIER", "EXPIRES", "LIMITS", "SCOPES")
NOTHING = "-"


def tenant_rows(organisations: tuple[Organisation, ...], projects: tuple[Project, ...]) -> list[list[str]]:
    """Each organisation, and its projects below it."""
    rows = []
    for organisation in organisations:
        state = tenant_state(organisation)
        rows.append([organisation.id, state, NOTHING, NOTHING, words_of(organisation.limits), NOTHING])
        rows += [project_row(project) for project in projects if project.organisation == organisation.id]
    return rows


def tenant_state(tenant: Organisation | Project) -> str:
    """In one word."""
    if tenant.is_disabled:
        return "disabled"
    return "unreadable" if tenant.problem else "enabled"


def key_rows(keys: tuple[KeyView, ...], now_s: float) -> list[list[str]]:
    """One line each."""
    return [
        [
            key.id,
            key.project,
            key.name or NOTHING,
            key_state(key, now_s),
            NOTHING if key.tier is None else key.tier.value,
            NOTHING if key.expires_at is None else moment_in_words(key.expires_at),
            words_of(key.limits),
            words_of(key.scopes),
        ]
        for key in keys
    ]


def key_state(key: KeyView, now_s: float) -> str:
    """In one word."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now_s:
        return "expired"
    if key.problem:
        return "unreadable"
    return "replaced" if key.replaced_by is not None else "works"


def words_of(document: Limits | Scopes) -> str:
    """As the command line takes them."""
    fields = msgspec.to_builtins(document)
    shown = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in fields.items()}
    return " ".join(f"{name}={value}" for name, value in shown.items() if value is not None) or NOTHING


def moment_in_words(at: float) -> str:
    """To the minute, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%MZ")


def project_row(project: Project) -> list[str]:
    return [
        project.id,
        tenant_state(project),
        project.tier.value,
        f"{project.weight:g}",
        words_of(project.limits),
        words_of(project.scopes),
    ]
