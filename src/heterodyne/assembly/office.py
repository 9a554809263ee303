"""The supervisor's office: opens the database, lends limits to the workers, and tells them of tenants and keys."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import msgspec

from heterodyne.config.settings import Settings
from heterodyne.console.tenants import TenantDesk
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.ports.leases import LeaseSource
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import TenantStore
from heterodyne.stores.lease_server import lending
from heterodyne.stores.memory_leases import MemoryLeases, SavedCounter
from heterodyne.stores.open_store import open_database, state_folder, tenants_in
from heterodyne.stores.redis_leases import RedisLeases
from heterodyne.telemetry import log

LEASES = "leases.sock"  # in the run folder
SAVE_INTERVAL_S = 5.0  # how much of a day's counters a crash may forget
RETRY_S = 1.0

_log = log.get("assembly")

Publish = Callable[[TenantSnapshot], Awaitable[bool]]  # to all workers; whether they work by it
_decode = msgspec.json.Decoder(tuple[SavedCounter, ...]).decode


class Office:
    """One per supervisor, inside `open_office`."""

    def __init__(self, tenants: TenantStore, snapshot: TenantSnapshot) -> None:
        self.snapshot = snapshot
        self.desk = TenantDesk(tenants, self._published)
        self._tenants = tenants
        self._publishing = asyncio.Lock()
        self.publish: Publish = _nobody  # connected to the workers when there are any

    async def run(self) -> None:
        """Follow changes that were made elsewhere, until cancelled."""
        while True:
            try:
                async with aclosing(self._tenants.changes(self.snapshot.version)) as versions:
                    async for _ in versions:
                        await self._refresh()
            except StoreUnavailable as error:
                _log.warning("tenants_not_followed", error=error.message)
            await asyncio.sleep(RETRY_S)

    async def _published(self, change: TenantChange) -> bool:
        _log.info("tenant_change", who=change.who, version=change.version)
        try:
            return await self._refresh()
        except StoreUnavailable as error:
            _log.error("tenants_not_published", error=error.message)
            return False

    async def _refresh(self) -> bool:
        """Read what is stored and tell the workers; several changes at once are told together."""
        async with self._publishing:
            snapshot = await self._tenants.snapshot()
            if snapshot.version > self.snapshot.version:
                self.snapshot = snapshot
                return await self.publish(snapshot)
            return True


@asynccontextmanager
async def open_office(settings: Settings, run_dir: Path) -> AsyncIterator[Office]:
    """Everything is open inside the block; raises StoreInvalid or StoreUnavailable where it cannot be."""
    async with AsyncExitStack() as stack:
        database = await open_database(settings.stores.url, os.environ)
        stack.push_async_callback(database.close)
        tenants = tenants_in(database)
        leases = await stack.enter_async_context(_leases(settings))
        await stack.enter_async_context(lending(run_dir / LEASES, leases))
        yield Office(tenants, await tenants.snapshot())


@asynccontextmanager
async def _leases(settings: Settings) -> AsyncIterator[LeaseSource]:
    """Redis where several gateways share it; else counters of our own, whose days survive a restart."""
    if settings.stores.redis_url is not None:
        shared = RedisLeases(settings.stores.redis_url)
        try:
            yield shared
        finally:
            await shared.close()
        return
    own = MemoryLeases()
    path = state_folder(os.environ) / f"limits-{settings.gateway.port}.json"
    own.restore(await asyncio.to_thread(_read, path))
    async with asyncio.TaskGroup() as group:
        saving = group.create_task(_save_often(own, path))
        try:
            yield own
        finally:
            saving.cancel()
            await asyncio.to_thread(_write, path, own.snapshot())


async def _save_often(leases: MemoryLeases, path: Path) -> None:
    saved: tuple[SavedCounter, ...] = ()
    while True:
        await asyncio.sleep(SAVE_INTERVAL_S)
        if (now := leases.snapshot()) != saved:
            saved = now
            await asyncio.to_thread(_write, path, now)


def _read(path: Path) -> tuple[SavedCounter, ...]:
    try:
        return _decode(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError) as error:
        _log.error("limits_not_restored", file=str(path), error=str(error))
        return ()


def _write(path: Path, saved: tuple[SavedCounter, ...]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unready = path.with_suffix(".unready")
        unready.write_bytes(msgspec.json.encode(saved))
        unready.replace(path)
    except OSError as error:
        _log.error("limits_not_saved", file=str(path), error=str(error))


async def _nobody(_: TenantSnapshot) -> bool:
    """Before there are workers."""
    return True
