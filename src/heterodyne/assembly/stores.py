"""Opens what the supervisor alone has open: audit log, database, books, and the source of limits."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

from heterodyne.assembly.answer_store import prepare_prompts
from heterodyne.assembly.batches import work_folder
from heterodyne.batches.outputs import answered_tokens
from heterodyne.config.settings import Settings
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.stores.files.open_contents import open_contents, uploads_folder
from heterodyne.stores.leases.server import serve_leases
from heterodyne.stores.open_store import (
    books_in,
    documents_in,
    models_in,
    open_database,
    policies_in,
    rollouts_in,
    state_folder,
    tenants_in,
)
from heterodyne.supervisor.stores.leases import open_leases
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog
from heterodyne.supervisor.stores.supervisor_books import SupervisorBooks
from heterodyne.supervisor.stores.supervisor_stores import SupervisorStores
from heterodyne.supervisor.stores.tenant_publisher import log_tenant_problems
from heterodyne.supervisor.workers.order import LEASES, WorkerPlaces

CONSOLE_KEY_BYTES = 32
ABUSE_SECRET_BYTES = 32


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
        await prepare_prompts(settings.stores.prompts_url)
        tenants, books = tenants_in(database), books_in(database)
        recent_activity, console_key = RecentActivity(), secrets.token_urlsafe(CONSOLE_KEY_BYTES)
        usage = None
        if settings.books.is_on:
            answered = partial(answered_tokens, work_folder(settings.stores.url))
            usage = SupervisorBooks(settings.books, state_dir, books, recent_activity, answered)
            await usage.open()
            stack.push_async_callback(usage.finish)
        leases = await stack.enter_async_context(open_leases(settings.stores.redis_url, state_dir, run_dir / LEASES))
        await stack.enter_async_context(serve_leases(run_dir / LEASES, leases))
        snapshot = await tenants.snapshot()
        log_tenant_problems(snapshot, TenantSnapshot())
        yield SupervisorStores(
            tenants=tenants,
            snapshot=snapshot,
            books=books,
            rollouts=rollouts_in(database),
            models=models_in(database),
            policies=policies_in(database),
            documents=documents_in(database),
            contents=open_contents(settings.gateway.files_url, settings.stores.url, os.environ),
            uploads=uploads_folder(os.environ),
            usage=usage,
            audit=audit,
            limits=leases,
            recent_activity=recent_activity,
            places=await asyncio.to_thread(_places, settings, audit, usage, console_key),
            console_key=console_key,
        )


def _places(settings: Settings, audit: SharedAuditLog, usage: SupervisorBooks | None, console_key: str) -> WorkerPlaces:
    return WorkerPlaces(
        books_spool="" if usage is None else str(usage.spool_folder),
        audit_spool=str(audit.spool_folder) if settings.audit.is_on else "",
        audit_key=audit.content_key().hex() if settings.audit.is_on else "",
        console_key_sha256=sha256(console_key.encode()).hexdigest() if settings.console.listens else "",
        abuse_secret=secrets.token_hex(ABUSE_SECRET_BYTES),
    )
