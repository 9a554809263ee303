"""Everything the admin API asks of the supervisor's office: tenants, the books, and whoever writes changes down."""

from msgspec import Struct

from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.console.tenants.service import TenantService
from heterodyne.ports.books import BookStore


class StoreServices(Struct, frozen=True, kw_only=True):
    """One per office."""

    tenants: TenantService
    recorder: ChangeRecorder
    books: BookStore
