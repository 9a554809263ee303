"""What a worker leaves for the supervisor to collect: usage, and entries of the audit log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.assembly.worker_order import WorkerOrder
from heterodyne.audit.key import ContentKey
from heterodyne.audit.spool import AuditSpool
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.spool import Spool
from heterodyne.gateway.auditor import Auditor
from heterodyne.gateway.bookkeeper import Bookkeeper


@contextmanager
def keeping_books(order: WorkerOrder) -> Iterator[Bookkeeper | None]:
    """None where nobody keeps books. A life has files of its own, so that those of the last can be recovered."""
    if not order.places.books_spool:
        yield None
        return
    folder, settings = Path(order.places.books_spool), order.settings.books
    life = f"{time.time_ns():016x}"
    slots = FlightSlots(folder / f"{order.name}.{life}.slots", settings.slots_max, is_opened=False)
    spool = Spool(folder, order.name, life, slots, bytes_max=settings.spool_bytes_max)
    spool.start()
    try:
        yield Bookkeeper(slots, spool)
    finally:
        spool.close()


@contextmanager
def auditing(order: WorkerOrder) -> Iterator[Auditor | None]:
    """None where requests are not audited."""
    settings, places = order.settings.audit, order.places
    if not settings.is_on or not places.audit_spool:
        yield None
        return
    spool = AuditSpool(Path(places.audit_spool), order.name, ContentKey(bytes.fromhex(places.audit_key)), settings)
    try:
        yield Auditor(spool)
    finally:
        spool.close()
