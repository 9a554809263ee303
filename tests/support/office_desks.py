"""An office's desk whose changes go into a list."""

from typing import cast

from heterodyne.console.office_desk import OfficeDesk
from heterodyne.console.recorder import ChangeRecorder
from heterodyne.console.tenants import TenantDesk
from heterodyne.ports.audit import ChangeLog
from heterodyne.ports.tenant_changes import TenantChange
from heterodyne.ports.tenants import TenantStore
from tests.support.change_logs import ListedChanges
from tests.support.inline_books import InlineBooks


def office_desk(log: ChangeLog | None = None, store: TenantStore | None = None) -> OfficeDesk:
    """Without a store nobody may ask about tenants."""
    recorder = ChangeRecorder(log or ListedChanges())
    tenants = TenantDesk(cast(TenantStore, store), _tell_nobody, recorder)
    return OfficeDesk(tenants=tenants, recorder=recorder, books=InlineBooks())


async def _tell_nobody(_: TenantChange) -> bool:
    return True
