"""What is read of tenants, as scripts for either database."""

import difflib

from heterodyne.domain.errors import UnknownName
from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.tenant import Key, Organisation, Project, TenantSnapshot
from heterodyne.stores.sql.script import Row, Script, Statement
from heterodyne.stores.sql.tenants.rows import KEY, ORGANISATION, PROJECT, key_of, organisation_of, project_of
from heterodyne.stores.sql.tenants.snapshot import snapshot_of

LISTED_MAX = 10  # names in an error that has none nearer
WORKS = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)"


def read_version() -> Script[int]:
    """Grows by one with each change."""
    [(version,)] = yield Statement("SELECT version FROM tenants_version")
    assert isinstance(version, int)
    return version


def read_snapshot(now_s: float) -> Script[TenantSnapshot]:
    """Every key that works now, and whether there ever was one."""
    version = yield from read_version()
    organisations = yield Statement(f"SELECT {ORGANISATION} FROM organisations")  # noqa: S608 - columns of ours
    projects = yield Statement(f"SELECT {PROJECT}, salt FROM projects")  # noqa: S608
    keys = yield Statement(f"SELECT {KEY} FROM keys WHERE {WORKS}", (now_s,))  # noqa: S608
    any_key = yield Statement("SELECT 1 FROM keys LIMIT 1")
    return snapshot_of(
        version,
        [organisation_of(row) for row in organisations],
        [(project_of(row), bytes(row[-1])) for row in projects],
        [key_of(row) for row in keys],
        has_keys=bool(any_key),
    )


def read_organisations(after: str, limit: int) -> Script[tuple[Organisation, ...]]:
    """In the order of their ids."""
    rows = yield Statement(
        f"SELECT {ORGANISATION} FROM organisations WHERE id > $1 ORDER BY id LIMIT $2",  # noqa: S608
        (after, limit),
    )
    return tuple(organisation_of(row) for row in rows)


def read_projects(organisation: str | None, after: str, limit: int) -> Script[tuple[Project, ...]]:
    """In the order of their ids, of one organisation or of all."""
    if organisation is not None:
        yield from read_organisation(organisation)
    rows = yield Statement(
        f"SELECT {PROJECT} FROM projects WHERE id > $1 AND ($2 = '' OR organisation = $2) "  # noqa: S608
        "ORDER BY id LIMIT $3",
        (after, organisation or "", limit),
    )
    return tuple(project_of(row) for row in rows)


def read_keys(project: str | None, now_s: float | None, after: str, limit: int) -> Script[tuple[Key, ...]]:
    """In the order of their ids, of one project or of all; those that work at a moment, or every one there was."""
    if project is not None:
        yield from read_project(project)
    works = "CAST($1 AS DOUBLE PRECISION) < 0" if now_s is None else WORKS
    rows = yield Statement(
        f"SELECT {KEY} FROM keys WHERE {works} AND id > $2 AND ($3 = '' OR project = $3) "  # noqa: S608
        "ORDER BY id LIMIT $4",
        (-1.0 if now_s is None else now_s, after, project or "", limit),
    )
    return tuple(key_of(row) for row in rows)


def try_organisation(id: str) -> Script[Organisation | None]:
    """None: there is none of this name."""
    rows = yield Statement(f"SELECT {ORGANISATION} FROM organisations WHERE id = $1", (id,))  # noqa: S608
    return organisation_of(rows[0]) if rows else None


def read_organisation(id: str) -> Script[Organisation]:
    """Raises UnknownName with the nearest ones."""
    found = yield from try_organisation(id)
    if found is None:
        rows = yield Statement("SELECT id FROM organisations ORDER BY id")
        raise _unknown("organisation", id, rows)
    return found


def try_project(id: str) -> Script[Project | None]:
    """None: there is none of this name."""
    rows = yield Statement(f"SELECT {PROJECT} FROM projects WHERE id = $1", (id,))  # noqa: S608
    return project_of(rows[0]) if rows else None


def read_project(id: str) -> Script[Project]:
    """Raises UnknownName with the nearest ones."""
    found = yield from try_project(id)
    if found is None:
        rows = yield Statement("SELECT id FROM projects ORDER BY id")
        raise _unknown("project", id, rows)
    return found


def read_key(id: str) -> Script[Key]:
    """Raises UnknownName; an id is random, so no other is near it but by a slip of the finger."""
    rows = yield Statement(f"SELECT {KEY} FROM keys WHERE id = $1", (id,))  # noqa: S608
    if not rows:
        known = [row[0] for row in (yield Statement("SELECT id FROM keys ORDER BY created_at DESC LIMIT 1000"))]
        near = difflib.get_close_matches(id, known, n=1, cutoff=0.8)
        if near:
            raise unknown_name("key", id[:100], near)
        raise UnknownName(f'no key "{id[:100]}"; `heterodyne keys list` shows those there are')
    return key_of(rows[0])


def _unknown(kind: str, name: str, rows: list[Row]) -> UnknownName:
    known = [row[0] for row in rows]
    if not known:
        return UnknownName(f'no {kind} "{name[:200]}"; there is none yet: `heterodyne tenants create` makes one')
    return unknown_name(kind, name[:200], difflib.get_close_matches(name, known, n=3) or known[:LISTED_MAX])
