"""How the terminal reaches tenants: through the admin API of a running gateway, else in the store itself."""

import asyncio
import os
import pwd
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from msgspec import Struct

from heterodyne.cli.admin_client import AdminClient
from heterodyne.cli.admin_options import is_default_url
from heterodyne.cli.admin_or_store import AdminOrStore
from heterodyne.cli.invocation import Invocation
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.tenants.operations import ChangeOperation, ListOperation, ReadOperation
from heterodyne.console.tenants.page_query import PageQuery
from heterodyne.console.tenants.service import TenantService
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import PAGE_MAX
from heterodyne.stores.open_store import open_database, state_folder, tenants_in
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog

T = TypeVar("T")
Body = TypeVar("Body", bound=Struct)
Answer = TypeVar("Answer", bound=Struct)
Row = TypeVar("Row")


def terminal_user() -> str:
    """Who makes a change that no operator key stands behind: the system's name of the user, not a variable's."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    return f"terminal {name}"


class TenantSource(Protocol):
    """Carries out the operations on tenants."""

    def change(self, operation: ChangeOperation[Body, Answer], body: Body) -> Answer: ...

    def read(self, operation: ReadOperation[Answer], id: str) -> Answer: ...

    def page(self, operation: ListOperation[Answer, Row], query: PageQuery) -> Answer: ...


class TenantAccess:
    """Asks the gateway. Where none listens, and the operator named no address, works on the store of the settings."""

    def __init__(self, invocation: Invocation, url: str, key_env: str) -> None:
        client = AdminClient(url, os.environ.get(key_env))
        self._sources: AdminOrStore[TenantSource] = AdminOrStore(
            AdminTenants(client),
            (lambda: StoreTenants(invocation)) if is_default_url() else None,
            instead=f"no gateway listens at {client.url}: working on the store itself",
        )

    def change(self, operation: ChangeOperation[Body, Answer], body: Body) -> Answer:
        """Make a change."""
        return self._sources.call(lambda source: source.change(operation, body))

    def read(self, operation: ReadOperation[Answer], id: str) -> Answer:
        """One organisation, project or key."""
        return self._sources.call(lambda source: source.read(operation, id))

    def all(
        self, operation: ListOperation[Answer, Row], of: str | None = None, *, with_spent: bool = False
    ) -> tuple[Row, ...]:
        """A whole list, read page by page."""
        found: tuple[Row, ...] = ()
        after: str | None = ""
        while after is not None:
            query = PageQuery(after=after, limit=PAGE_MAX, of=of, with_spent=with_spent)
            rows, after = operation.rows(self._page(operation, query))
            found += rows
        return found

    def _page(self, operation: ListOperation[Answer, Row], query: PageQuery) -> Answer:
        return self._sources.call(lambda source: source.page(operation, query))


class AdminTenants:
    """Over HTTP."""

    def __init__(self, client: AdminClient) -> None:
        self._client = client

    def change(self, operation: ChangeOperation[Body, Answer], body: Body) -> Answer:
        return self._client.call("POST", operation.path, body, operation.answer)

    def read(self, operation: ReadOperation[Answer], id: str) -> Answer:
        return self._client.call("GET", operation.path_of(id), None, operation.answer)

    def page(self, operation: ListOperation[Answer, Row], query: PageQuery) -> Answer:
        return self._client.call("GET", operation.path_of(query), None, operation.answer)


class StoreTenants:
    """In the store itself, while no gateway serves."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation

    def change(self, operation: ChangeOperation[Body, Answer], body: Body) -> Answer:
        return self._run(lambda service: operation.act(service, body, terminal_user()))

    def read(self, operation: ReadOperation[Answer], id: str) -> Answer:
        return self._run(lambda service: operation.act(service, id))

    def page(self, operation: ListOperation[Answer, Row], query: PageQuery) -> Answer:
        return self._run(lambda service: operation.act(service, query))

    def _run(self, act: Callable[[TenantService], Awaitable[T]]) -> T:
        async def run() -> T:
            settings = self._invocation.settings()
            database = await open_database(settings.stores.url, os.environ)
            audit = SharedAuditLog(settings.audit, state_folder(os.environ))
            try:
                return await act(TenantService(tenants_in(database), _publish_nowhere, ChangeRecorder(audit)))
            finally:
                await database.close()
                await asyncio.to_thread(audit.close)

        return asyncio.run(run())


async def _publish_nowhere(_: TenantChange) -> bool:
    """A gateway that starts later, or serves without an admin API, reads the store."""
    return True
