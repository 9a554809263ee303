"""How the terminal reaches tenants: through the admin API of a running gateway, else in the store itself."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import click
from msgspec import Struct

from heterodyne.cli.admin_client import AdminClient, AdminUnreachable
from heterodyne.cli.invocation import Invocation
from heterodyne.cli.settings_address import is_default_url
from heterodyne.cli.tenants.terminal_user import terminal_user
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.tenants.service import TenantService
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.stores.open_store import open_database, state_folder, tenants_in
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog

WHO = terminal_user()  # who made a change that no operator key stands behind

T = TypeVar("T")


class TenantCall(Struct, Generic[T], frozen=True, kw_only=True):
    """One thing to ask, in both ways of asking it."""

    path: str
    kind: type[T]
    on_service: Callable[[TenantService], Awaitable[T]]
    body: object = None  # None: it is only read


class TenantAccess:
    """Asks the gateway. Where none listens, and the operator named no address, works on the store of the settings."""

    def __init__(self, invocation: Invocation, url: str, key_env: str) -> None:
        self._invocation = invocation
        self._client = TenantClient(url, os.environ.get(key_env))
        self._is_default = is_default_url()
        self._is_at_store = False

    def send(self, call: TenantCall[T]) -> T:
        """The answer of either."""
        if self._is_at_store:
            return asyncio.run(self._at_store(call))
        try:
            return self._client.call(call)
        except AdminUnreachable as error:
            if not self._is_default or not error.is_connection_refused:
                raise
        self._is_at_store = True
        click.echo(f"no gateway listens at {self._client.url}: working on the store itself", err=True)
        return asyncio.run(self._at_store(call))

    async def _at_store(self, call: TenantCall[T]) -> T:
        settings = self._invocation.settings()
        database = await open_database(settings.stores.url, os.environ)
        audit = SharedAuditLog(settings.audit, state_folder(os.environ))
        try:
            return await call.on_service(TenantService(tenants_in(database), _publish_nowhere, ChangeRecorder(audit)))
        finally:
            await database.close()
            await asyncio.to_thread(audit.close)


class TenantClient(AdminClient):
    """The part of the admin API that is about tenants."""

    def call(self, call: TenantCall[T]) -> T:
        """Over HTTP."""
        return self._call("GET" if call.body is None else "POST", call.path, call.body, call.kind)


def query(**words: Any) -> str:
    """Those that are said, as the end of a path."""
    given = {word: str(value) for word, value in words.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""


async def _publish_nowhere(_: TenantChange) -> bool:
    """A gateway that starts later, or serves without an admin API, reads the store."""
    return True
