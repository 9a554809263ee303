"""The supervisor's office: opens the database and the audit log, lends limits to the workers, tells them of tenants and
keys, and keeps the books."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from heterodyne.audit.audit_writer import AuditWriterState
from heterodyne.books.collector import CollectorState
from heterodyne.config.settings import Settings
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.fleet.service import FleetService, Nothing
from heterodyne.console.live.feed import LiveFeed
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.console.store_services import StoreServices
from heterodyne.console.tenants.service import TenantService
from heterodyne.domain.errors import AuditBroken, HeterodyneError, StoreInvalid
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.ports.books import BookStore
from heterodyne.ports.leases import LimitReader
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import TenantStore
from heterodyne.stores.leases.server import serve_leases
from heterodyne.stores.open_store import books_in, open_database, state_folder, tenants_in
from heterodyne.supervisor.alerts.watch import AlertWatch
from heterodyne.supervisor.meters.stores import write_meters
from heterodyne.supervisor.stores.leases import open_leases
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog
from heterodyne.supervisor.stores.supervisor_books import SupervisorBooks
from heterodyne.supervisor.workers.order import LEASES, WorkerPlaces
from heterodyne.telemetry import log
from heterodyne.telemetry.loops import keep_running, note_failure
from heterodyne.telemetry.meters import Sample
from heterodyne.telemetry.trouble import Trouble

RETRY_S = 1.0
CONSOLE_KEY_BYTES = 32
TAKE_INTERVAL_S = 5.0  # how often a log that another process writes is asked for
BROKEN_INTERVAL_S = 60.0  # how often a log that is not as it was written, which takes long to read, is looked at again
SIGNAL = "signal SIGHUP"  # who reloads without the admin API

_log = log.get("assembly")


class MeterSource(Protocol):
    """Whoever measures what only a supervisor can."""

    async def run(self) -> None: ...

    def samples(self) -> list[Sample]: ...


Publish = Callable[[TenantSnapshot], Awaitable[bool]]  # to all workers; whether they work by it


class SupervisorStores:
    """One per supervisor, inside `open_office`."""

    def __init__(
        self,
        tenants: TenantStore,
        snapshot: TenantSnapshot,
        store: BookStore,
        *,
        books: SupervisorBooks | None,
        audit: SharedAuditLog,
        limits: LimitReader,
        recent_activity: RecentActivity,
        places: WorkerPlaces,
        console_key: str,
        run_dir: Path,
    ) -> None:
        recorder = ChangeRecorder(audit)
        self.snapshot = snapshot
        self.books = store
        self.tenants = tenants
        self.limits = limits  # how far their counters have got
        self.places = places  # where workers leave usage and entries of the audit log
        self.recent_activity = recent_activity
        self.console_key = console_key  # what the playground asks the workers with; new with every office
        self.feed: LiveFeed | None = None  # of the console, when there is one
        self.alerts: AlertWatch | None = None  # who looks out for trouble, when somebody does
        self.meters: MeterSource | None = None  # what is measured of the fleet, when there is one
        self.admin_services = StoreServices(
            tenants=TenantService(tenants, self._published, recorder), recorder=recorder, books=store
        )
        self.publish: Publish = _no_workers  # connected to the workers when there are any
        self.fleet: FleetService | None = None  # its owner, when there is one
        self._books = books
        self._audit = audit
        self._run_dir = run_dir
        self._publishing = asyncio.Lock()
        self._is_published = True  # whether every worker works by the snapshot
        self._reload = asyncio.Event()

    @property
    def collecting(self) -> CollectorState | None:
        """How usage is collected; None: no books are kept."""
        return None if self._books is None else self._books.state

    @property
    def auditing(self) -> AuditWriterState | None:
        """How the audit log stands; None: another process writes it, or nobody can."""
        return self._audit.try_snapshot()

    async def run(self) -> None:
        """Follow changes that were made elsewhere, keep the books, heed `reload_soon`; until cancelled."""
        lives: dict[str, Callable[[], Awaitable[object]]] = {
            "tenants": self._follow,
            "audit": self._take_audit,
            "reloads": self._heed_reloads,
            "meters": self._write_meters,
        }
        if self.meters is not None:
            lives["fleet meters"] = self.meters.run
        if self._books is not None:
            lives["books"] = partial(self._books.run, self._page)
        if self.feed is not None:
            lives["live"] = self.feed.run
        if self.alerts is not None:
            lives["alerts"] = self.alerts.run
        async with asyncio.TaskGroup() as group:
            for name, run in lives.items():
                group.create_task(keep_running(name, run), name=name)

    def reload_soon(self) -> None:
        """As a signal asks for it: whoever sent it reads the log."""
        self._reload.set()

    def _samples(self) -> list[Sample]:
        return [] if self.meters is None else self.meters.samples()

    def _page(self) -> FleetPage | None:
        return None if self.fleet is None else self.fleet.page()

    async def _write_meters(self) -> None:
        await write_meters(self._run_dir, lambda: self.collecting, self._audit.try_snapshot, self._samples)

    async def _follow(self) -> None:
        """Whatever cannot be read now is read again from the same place: the last good snapshot serves meanwhile."""
        trouble = Trouble(_log, "tenants_not_followed", serves_by=self.snapshot.version)
        while True:
            try:
                async with aclosing(self.tenants.changes(self.snapshot.version)) as versions:
                    async for _ in versions:
                        if await self._refresh():
                            trouble.worked()
                        else:
                            await self._insist()
            except Exception as error:  # noqa: BLE001  # the root of the task: no row and no database may end what serves
                note_failure("tenants", trouble, error)
            await asyncio.sleep(RETRY_S)

    async def _insist(self) -> None:
        """Some worker has not taken what was published; it may have been busy, or the disk full."""
        while not await self._refresh():
            await asyncio.sleep(RETRY_S)

    async def _take_audit(self) -> None:
        """Until the log is ours: whoever had it may leave, and somebody has to collect."""
        trouble = Trouble(_log, "audit_not_open", then="changes are refused")
        while True:
            try:
                if await asyncio.to_thread(self._audit.try_take):
                    trouble.worked()
                    return
            except HeterodyneError as error:
                trouble.failed(error)
                if isinstance(error, AuditBroken):
                    await asyncio.sleep(BROKEN_INTERVAL_S)
            await asyncio.sleep(TAKE_INTERVAL_S)

    async def _heed_reloads(self) -> None:
        while True:
            await self._reload.wait()
            self._reload.clear()
            if self.fleet is None:
                continue
            try:
                await FleetChanges(self.fleet, self.admin_services.recorder).reload(Nothing(), SIGNAL)
            except HeterodyneError as error:
                _log.warning("serving_by_the_old_settings", error=error.message)
            except Exception as error:  # noqa: BLE001  # the root of a reload: our mistake must not end what serves
                _log.error("change_failed", change="reload", exc_info=error)

    async def _published(self, change: TenantChange) -> bool:
        _log.info("tenant_change", who=change.who, version=change.version)
        try:
            return await self._refresh()
        except Exception as error:  # noqa: BLE001  # the change is stored; whoever asked hears that it is not applied
            _log.error("tenants_not_published", error=f"{type(error).__name__}: {error}")
            return False

    async def _refresh(self) -> bool:
        """Read what is stored and tell the workers; several changes at once are told together."""
        async with self._publishing:
            snapshot = await self.tenants.snapshot()
            if self.snapshot.has_keys and not snapshot.has_keys:
                raise StoreInvalid(
                    "the database has lost every key that was ever issued, and no gateway is opened by that; "
                    "the last snapshot serves on. Restore the database."
                )
            _log_problems(snapshot, self.snapshot)
            if snapshot.version != self.snapshot.version or not self._is_published:
                self._is_published = await self.publish(snapshot)
                self.snapshot = snapshot
            return self._is_published


@asynccontextmanager
async def open_supervisor_stores(settings: Settings, run_dir: Path) -> AsyncIterator[SupervisorStores]:
    """Everything is open inside the block; raises StoreInvalid or StoreUnavailable where it cannot be, and AuditBroken
    where requests are to be audited and the log is not as it was written."""
    state_dir = state_folder(os.environ)
    async with AsyncExitStack() as stack:
        audit = SharedAuditLog(settings.audit, state_dir)
        stack.push_async_callback(asyncio.to_thread, audit.close)  # the last to close: nothing is done unrecorded
        if settings.audit.is_on:
            await asyncio.to_thread(audit.try_take)
        database = await open_database(settings.stores.url, os.environ)
        stack.push_async_callback(database.close)
        tenants, store = tenants_in(database), books_in(database)
        recent_activity, console_key = RecentActivity(), secrets.token_urlsafe(CONSOLE_KEY_BYTES)
        books = SupervisorBooks(settings.books, state_dir, store, recent_activity) if settings.books.is_on else None
        if books is not None:
            await books.open()
            stack.push_async_callback(books.finish)
        leases = await stack.enter_async_context(open_leases(settings.stores.redis_url, state_dir, run_dir / LEASES))
        await stack.enter_async_context(serve_leases(run_dir / LEASES, leases))
        snapshot = await tenants.snapshot()
        _log_problems(snapshot, TenantSnapshot())
        yield SupervisorStores(
            tenants,
            snapshot,
            store,
            books=books,
            audit=audit,
            limits=leases,
            recent_activity=recent_activity,
            places=await asyncio.to_thread(_places, settings, audit, books, console_key),
            console_key=console_key,
            run_dir=run_dir,
        )


def _places(settings: Settings, audit: SharedAuditLog, books: SupervisorBooks | None, console_key: str) -> WorkerPlaces:
    return WorkerPlaces(
        books_spool="" if books is None else str(books.spool_folder),
        audit_spool=str(audit.spool_folder) if settings.audit.is_on else "",
        audit_key=audit.content_key().hex() if settings.audit.is_on else "",
        console_key_sha256=sha256(console_key.encode()).hexdigest() if settings.console.listens else "",
    )


def _log_problems(snapshot: TenantSnapshot, before: TenantSnapshot) -> None:
    """Once, when they come."""
    for problem in set(snapshot.problems) - set(before.problems):
        _log.error("tenant_unreadable", row=problem, then="its keys are refused")
    for field in set(snapshot.unread) - set(before.unread):
        _log.warning("tenant_field_unknown", field=field, then="it is kept, and not heeded")


async def _no_workers(_: TenantSnapshot) -> bool:
    """Before there are workers."""
    return True
