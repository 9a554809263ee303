"""An office's desk whose changes go into a list."""

from typing import cast

from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.services import StoreServices
from heterodyne.console.tenants.service import TenantService
from heterodyne.ports.audit import ChangeLog
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import TenantStore
from tests.support.change_logs import ListedChanges
from tests.support.inline_books import InlineBooks


def store_services(log: ChangeLog | None = None, store: TenantStore | None = None) -> StoreServices:
    """Without a store nobody may ask about tenants."""
    recorder = ChangeRecorder(log or ListedChanges())
    tenants = TenantService(cast(TenantStore, store), _publish_nowhere, recorder)
    return StoreServices(tenants=tenants, recorder=recorder, books=InlineBooks())


async def _publish_nowhere(_: TenantChange) -> bool:
    return True
