"""Who is held to regions, read from the database as it stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from heterodyne.domain.tenant import Scopes
from heterodyne.stores.read_only import read_rows

PROJECTS: Final = "SELECT id, scopes FROM projects ORDER BY id"
KEYS: Final = "SELECT id, project, scopes FROM keys WHERE revoked_at IS NULL ORDER BY id"

_scopes = msgspec.json.Decoder(Scopes).decode


class HeldTenant(Struct, frozen=True, kw_only=True):
    """A project, or a key that has regions of its own."""

    name: str
    regions: frozenset[str]


async def held_tenants(url: str, environ: Mapping[str, str]) -> tuple[HeldTenant, ...]:
    """Empty also where nobody was ever written down, and where the database cannot be read."""
    found = await read_rows(url, environ, PROJECTS, KEYS)
    return () if found is None else held(*found)


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
