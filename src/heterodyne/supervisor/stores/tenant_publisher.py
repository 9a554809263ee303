"""Takes tenants and keys from the store to every worker, and follows the changes that others make there."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from heterodyne.domain.errors import StoreInvalid
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import TenantStore
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import note_failure
from heterodyne.telemetry.trouble import Trouble

RETRY_S = 1.0

_log = log.get("assembly")

PublishTenants = Callable[[TenantSnapshot], Awaitable[bool]]  # to all workers; whether they work by it


class TenantPublisher:
    """One per supervisor."""

    def __init__(self, store: TenantStore, snapshot: TenantSnapshot, publish: PublishTenants) -> None:
        """`snapshot` is what the workers begin with."""
        self.snapshot = snapshot  # what the workers were given last
        self._store = store
        self._publish = publish
        self._publishing = asyncio.Lock()
        self._is_published = True  # whether every worker works by the snapshot

    async def follow(self) -> None:
        """What cannot be read now is read again from the same place: the last good snapshot serves meanwhile."""
        trouble = Trouble(_log, "tenants_not_followed", serves_by=self.snapshot.version)
        while True:
            try:
                async with aclosing(self._store.changes(self.snapshot.version)) as versions:
                    async for _ in versions:
                        if await self._refresh():
                            trouble.worked()
                        else:
                            await self._insist()
            except Exception as error:  # noqa: BLE001  # the root of the task: no row and no database may end what serves
                note_failure("tenants", trouble, error)
            await asyncio.sleep(RETRY_S)

    async def on_change(self, change: TenantChange) -> bool:
        """A change is stored here; whether every worker works by it."""
        _log.info("tenant_change", who=change.who, version=change.version)
        try:
            return await self._refresh()
        except Exception as error:  # noqa: BLE001  # the change is stored; the answer says that it is not applied
            _log.error("tenants_not_published", error=f"{type(error).__name__}: {error}")
            return False

    async def _insist(self) -> None:
        """Some worker has not taken what was published; it may have been busy, or the disk full."""
        while not await self._refresh():
            await asyncio.sleep(RETRY_S)

    async def _refresh(self) -> bool:
        """Read what is stored and give it to the workers; several changes at once go together."""
        async with self._publishing:
            snapshot = await self._store.snapshot()
            if self.snapshot.has_keys and not snapshot.has_keys:
                raise StoreInvalid(
                    "the database has lost every key that was ever issued, and no gateway is opened by that; "
                    "the last snapshot serves on. Restore the database."
                )
            log_tenant_problems(snapshot, self.snapshot)
            if snapshot.version != self.snapshot.version or not self._is_published:
                self._is_published = await self._publish(snapshot)
                self.snapshot = snapshot
            return self._is_published


def log_tenant_problems(snapshot: TenantSnapshot, before: TenantSnapshot) -> None:
    """Once, when they come."""
    for problem in set(snapshot.problems) - set(before.problems):
        _log.error("tenant_unreadable", row=problem, then="its keys are refused")
    for field in set(snapshot.unread) - set(before.unread):
        _log.warning("tenant_field_unknown", field=field, then="it is kept, and not heeded")
