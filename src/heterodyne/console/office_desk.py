"""Everything the admin API asks of the supervisor's office: tenants, the books, and whoever writes changes down."""

from msgspec import Struct

from heterodyne.console.recorder import ChangeRecorder
from heterodyne.console.tenants import TenantDesk
from heterodyne.ports.books import BookStore


class OfficeDesk(Struct, frozen=True, kw_only=True):
    """One per office."""

    tenants: TenantDesk
    recorder: ChangeRecorder
    books: BookStore
