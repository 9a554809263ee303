"""The tenant store over either database: draws secrets, reads the clock, and has each database run scripts."""

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from hashlib import sha256
from typing import TypeVar

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.tenant import KeyId, Organisation, Project, TenantSnapshot
from heterodyne.ports.tenant_changes import (
    IssuedKey,
    KeyDraft,
    KeyEdit,
    KeyView,
    OrganisationDraft,
    OrganisationEdit,
    ProjectDraft,
    ProjectEdit,
    Rotation,
    TenantChange,
)
from heterodyne.ports.tenants import PAGE_MAX
from heterodyne.stores.sql.script import Script
from heterodyne.stores.sql.tenants import reads, writes
from heterodyne.stores.sql.tenants.rows import view_of
from heterodyne.stores.sql.tenants.writes import Act, NewSecret

SECRET_PREFIX = "hd-"  # noqa: S105 - lets scanners of leaked secrets know ours
SECRET_BYTES = 32
KEY_ID_BYTES = 10
SALT_BYTES = 16

T = TypeVar("T")


class SqlTenants(ABC):
    """Everything but how a script is run and how a change made elsewhere is noticed."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    @abstractmethod
    async def _read(self, script: Script[T]) -> T:
        """Of one moment."""

    @abstractmethod
    async def _write(self, script: Script[T]) -> T:
        """In one transaction, which a script that raises leaves undone."""

    @abstractmethod
    def changes(self, since: int) -> AsyncGenerator[int]:
        """The version, each time it is another than the last one."""

    async def version(self) -> int:
        return await self._read(reads.read_version())

    async def snapshot(self) -> TenantSnapshot:
        return await self._read(reads.read_snapshot(self._clock()))

    async def organisations(self, *, after: str = "", limit: int = PAGE_MAX) -> tuple[Organisation, ...]:
        return await self._read(reads.read_organisations(_text(after, "after"), _page(limit)))

    async def organisation(self, id: str) -> Organisation:
        return await self._read(reads.read_organisation(_text(id, "id")))

    async def create_organisation(self, draft: OrganisationDraft, *, who: str) -> TenantChange:
        return await self._write(writes.create_organisation(draft, self._act(who)))

    async def update_organisation(self, edit: OrganisationEdit, *, who: str) -> TenantChange:
        _text(edit.id, "id")
        return await self._write(writes.update_organisation(edit, self._act(who)))

    async def projects(
        self, *, organisation: str | None = None, after: str = "", limit: int = PAGE_MAX
    ) -> tuple[Project, ...]:
        of = None if organisation is None else _text(organisation, "organisation")
        return await self._read(reads.read_projects(of, _text(after, "after"), _page(limit)))

    async def project(self, id: str) -> Project:
        return await self._read(reads.read_project(_text(id, "id")))

    async def create_project(self, draft: ProjectDraft, *, who: str) -> TenantChange:
        salt = secrets.token_bytes(SALT_BYTES)
        return await self._write(writes.create_project(draft, salt, self._act(who)))

    async def update_project(self, edit: ProjectEdit, *, who: str) -> TenantChange:
        _text(edit.id, "id")
        return await self._write(writes.update_project(edit, self._act(who)))

    async def keys(
        self, *, project: str | None = None, with_spent: bool = False, after: str = "", limit: int = PAGE_MAX
    ) -> tuple[KeyView, ...]:
        of = None if project is None else _text(project, "project")
        at = None if with_spent else self._clock()
        keys = await self._read(reads.read_keys(of, at, _text(after, "after"), _page(limit)))
        return tuple(view_of(key) for key in keys)

    async def key(self, id: str) -> KeyView:
        return view_of(await self._read(reads.read_key(_text(id, "id"))))

    async def create_key(self, draft: KeyDraft, *, who: str) -> IssuedKey:
        _text(draft.project, "project")
        secret, new = _draw_secret()
        change = await self._write(writes.create_key(draft, new, self._act(who)))
        assert isinstance(change.after, KeyView)
        return IssuedKey(change=change, key=change.after, secret=secret)

    async def update_key(self, edit: KeyEdit, *, who: str) -> TenantChange:
        _text(edit.id, "id")
        return await self._write(writes.update_key(edit, self._act(who)))

    async def rotate_key(self, rotation: Rotation, *, who: str) -> IssuedKey:
        _text(rotation.id, "id")
        secret, new = _draw_secret()
        change = await self._write(writes.rotate_key(rotation, new, self._act(who)))
        assert change.successor is not None
        return IssuedKey(change=change, key=change.successor, secret=secret)

    async def revoke_key(self, id: str, *, who: str) -> TenantChange:
        return await self._write(writes.revoke_key(_text(id, "id"), self._act(who)))

    def _act(self, who: str) -> Act:
        return Act(who=who, at=self._clock())


def _draw_secret() -> tuple[str, NewSecret]:
    secret = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    key_id = KeyId(f"key_{secrets.token_hex(KEY_ID_BYTES)}")
    return secret, NewSecret(id=key_id, sha256=sha256(secret.encode()).hexdigest())


def _text(value: str, param: str) -> str:
    """Names that no database could hold; PostgreSQL has no place for a null character."""
    if not value.isprintable():
        raise InvalidField(f"{param}: only printable characters are expected.", param=param)
    return value


def _page(limit: int) -> int:
    if not 1 <= limit <= PAGE_MAX:
        raise InvalidField(f"limit: a whole number from 1 to {PAGE_MAX} is expected.", param="limit")
    return limit
