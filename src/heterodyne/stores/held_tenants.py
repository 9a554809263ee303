"""Who is held to regions, as a person at a terminal asks: read as it stands, and nothing is made or migrated."""

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from heterodyne.domain.tenant import Scopes
from heterodyne.stores.open_store import sqlite_path
from heterodyne.stores.probe import POSTGRES_TIMEOUT_S

PROJECTS: Final = "SELECT id, scopes FROM projects ORDER BY id"
KEYS: Final = "SELECT id, project, scopes FROM keys WHERE revoked_at IS NULL ORDER BY id"

_scopes = msgspec.json.Decoder(Scopes).decode


class HeldTenant(Struct, frozen=True, kw_only=True):
    """A project, or a key that has regions of its own."""

    name: str
    regions: frozenset[str]


async def held_tenants(url: str, environ: Mapping[str, str]) -> tuple[HeldTenant, ...]:
    """Empty also where nobody was ever written down, and where the database cannot be read, which others say."""
    if url.startswith("sqlite:"):
        return await asyncio.to_thread(_in_file, sqlite_path(url, environ))
    try:
        import asyncpg  # noqa: PLC0415 - an extra
    except ImportError:
        return ()
    try:
        connection: Any = await asyncpg.connect(url, timeout=POSTGRES_TIMEOUT_S)
        try:
            projects = await connection.fetch(PROJECTS, timeout=POSTGRES_TIMEOUT_S)
            keys = await connection.fetch(KEYS, timeout=POSTGRES_TIMEOUT_S)
        finally:
            await connection.close(timeout=POSTGRES_TIMEOUT_S)
    except (OSError, asyncpg.InterfaceError, asyncpg.PostgresError, ValueError):
        return ()
    return held(projects, keys)


def _in_file(path: Path) -> tuple[HeldTenant, ...]:
    if not path.exists():
        return ()
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)
    try:
        return held(connection.execute(PROJECTS).fetchall(), connection.execute(KEYS).fetchall())
    except sqlite3.Error:
        return ()
    finally:
        connection.close()


def held(projects: Iterable[Sequence[str]], keys: Iterable[Sequence[str]]) -> tuple[HeldTenant, ...]:
    """Of these rows; a key is named where it has less than its project."""
    of_projects = {id: _regions(scopes) for id, scopes in projects}
    return tuple(_held(of_projects, keys))


def _held(projects: Mapping[str, frozenset[str] | None], keys: Iterable[Sequence[str]]) -> Iterator[HeldTenant]:
    for name, regions in projects.items():
        if regions is not None:
            yield HeldTenant(name=name, regions=regions)
    for id, project, scopes in keys:
        own, outer = _regions(scopes), projects.get(project)
        if own is not None:
            yield HeldTenant(name=id, regions=own if outer is None else own & outer)


def _regions(scopes: str) -> frozenset[str] | None:
    """None: anywhere, or nobody can tell; such keys are refused."""
    try:
        named = _scopes(scopes).regions
    except msgspec.MsgspecError:
        return None
    return None if named is None else frozenset(named)
