"""Generated requests against the admin API's own description, over a real store and a real audit log."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import hypothesis
import msgspec
import pytest
import schemathesis
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from heterodyne.audit.key import open_key
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.verify import verify
from heterodyne.console.app import admin_app
from heterodyne.console.batches.routes import batch_routes
from heterodyne.console.batches.service import BatchService
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.fleet.audited_changes import FleetChanges
from heterodyne.console.fleet.routes import fleet_change_routes, fleet_routes
from heterodyne.console.fleet.service import FleetService
from heterodyne.console.guard import Guard
from heterodyne.console.openapi import describe_routes
from heterodyne.console.server import AdminServer
from heterodyne.console.services import StoreServices
from heterodyne.console.settings import ConsoleSettings
from heterodyne.console.tenants.routes import tenant_routes
from heterodyne.console.tenants.service import TenantService
from heterodyne.console.usage.routes import usage_routes
from heterodyne.ports.tenant_changes import OrganisationDraft, ProjectDraft, TenantChange
from heterodyne.stores.sqlite.books import SqliteBooks
from heterodyne.stores.sqlite.database import SqliteDatabase
from heterodyne.stores.sqlite.documents import SqliteDocuments
from heterodyne.stores.sqlite.tenants import SqliteTenants
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog
from tests.support.admin_fleets import ScriptedFleet
from tests.support.examples import examples
from tests.support.store_services import store_services
from tests.support.threads import in_thread

ANSWER_S = 60.0  # no request of these is answered later, on whatever machine
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]


def document() -> dict[str, object]:
    """Of routes that nobody will ask: what they say of themselves is the same."""
    guard, services, fleet = cast(Guard, _AnyGuard()), store_services(), ScriptedFleet()
    routes = [
        *fleet_routes(guard, fleet),
        *fleet_change_routes(guard, FleetChanges(fleet, services.recorder)),
        *tenant_routes(guard, services.tenants),
        *usage_routes(guard, services.books),
        *batch_routes(guard, cast(BatchService, guard)),
    ]
    described: dict[str, object] = msgspec.to_builtins(describe_routes(routes))
    return described


class _AnyGuard:
    def __getattr__(self, name: str) -> object:
        return lambda *_: None


api = schemathesis.openapi.from_dict(document())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An admin API in a thread of its own; at the end its log is as it was written."""
    folder = tmp_path_factory.mktemp("admin")
    with in_thread(_serving(folder)) as address:
        yield address
    key = open_key(folder / "audit" / "audit.key", may_create=False)
    verdict = verify(folder / "audit", key)
    assert verdict.is_intact
    assert verdict.entries > 20


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[str]:
    database = await SqliteDatabase.open(folder / "admin.db")
    share = SharedAuditLog(AuditSettings(fsync=False), folder)
    recorder = ChangeRecorder(share)
    tenants = TenantService(SqliteTenants(database), _tell_nobody, recorder)
    await tenants.create_organisation(OrganisationDraft(id="acme"), "test")
    await tenants.create_project(ProjectDraft(id="acme/search"), "test")
    batches = BatchService(SqliteDocuments(database), recorder)
    services = StoreServices(tenants=tenants, recorder=recorder, books=SqliteBooks(database), batches=batches)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = admin_app(ConsoleSettings(), cast(FleetService, ScriptedFleet()), services)
        server = AdminServer(app, listener, Guard.of(ConsoleSettings()))
        async with asyncio.TaskGroup() as group:
            group.create_task(server.run())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.leave()
    await asyncio.to_thread(share.close)
    await database.close()


async def _tell_nobody(_: TenantChange) -> bool:
    return True


@api.hook
def map_body(context: schemathesis.HookContext, body: object) -> object:
    """Most changes are of what there is: a name made up by the generator would only ever be answered 404."""
    if isinstance(body, dict) and isinstance(body.get("project"), str) and len(body["project"]) < 5:
        return {**body, "project": "acme/search"}
    if isinstance(body, dict) and isinstance(body.get("id"), str) and len(body["id"]) < 5:
        operation = getattr(context, "operation", None)
        return {**body, "id": "acme" if operation is not None and "organisations" in operation.path else "acme/search"}
    return body


@api.parametrize()
@hypothesis.settings(max_examples=examples(10, least=5), derandomize=True, deadline=None, database=None)
def test_every_answer_of_the_admin_api_is_one_the_description_promises(case: Case, url: str) -> None:
    case.call_and_validate(base_url=url, checks=CHECKS, timeout=ANSWER_S)
